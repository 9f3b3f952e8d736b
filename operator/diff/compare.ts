import { quantity } from './quantity.ts';

/** One field that is not as we want it. Paths are as `kubectl explain` has them, list elements by their key: `spec.template.spec.containers[api].image`. */
export type FieldChange = {
  readonly path: string;
  /** `undefined` when the field is not there. */
  readonly before: unknown;
  readonly after: unknown;
};

/**
 * Lists whose elements the API server merges by a key; all others are replaced as a whole. Elements of others stay in them: what injects a sidecar may.
 */
const keysOfLists: readonly { readonly list: RegExp; readonly keys: readonly string[] }[] = [
  { list: /(^|\.)ownerReferences$/, keys: ['uid'] },
  { list: /(^|\.)(containers|initContainers|env|volumes|imagePullSecrets)$/, keys: ['name'] },
  { list: /(^|\.)volumeMounts$/, keys: ['mountPath'] },
  { list: /(^|\.)topologySpreadConstraints$/, keys: ['topologyKey', 'whenUnsatisfiable'] },
  { list: /\.containers\[[^\]]*\]\.ports$/, keys: ['containerPort', 'protocol'] },
  { list: /^spec\.ports$/, keys: ['port', 'protocol'] },
];

/** Fields that hold amounts: `1000m` is `1`. */
const amounts = /\.(requests|limits)\.[^.]+$|\.(sizeLimit|averageValue)$/;

/**
 * Fields of `desired` that `live` has otherwise or not at all. Fields that only `live` has are not ours: defaults of the API server, and what others set.
 */
export function compareFields(desired: unknown, live: unknown, path = ''): FieldChange[] {
  if (isFields(desired)) {
    if (!isFields(live)) return isEmpty(desired) && live === undefined ? [] : [{ path, before: live, after: desired }];
    return Object.entries(desired).flatMap(([name, value]) =>
      value === undefined ? [] : compareFields(value, live[name], below(path, name)),
    );
  }
  if (Array.isArray(desired)) {
    if (!Array.isArray(live))
      return isEmpty(desired) && live === undefined ? [] : [{ path, before: live, after: desired }];
    return compareLists(desired, live, path);
  }
  return isSame(desired, live, path) ? [] : [{ path, before: live, after: desired }];
}

function compareLists(desired: readonly unknown[], live: readonly unknown[], path: string): FieldChange[] {
  const keys = keysOf(path);
  if (keys === undefined) {
    if (desired.length !== live.length) return [{ path, before: live, after: desired }];
    return desired.flatMap((value, index) => compareFields(value, live[index], `${path}[${index}]`));
  }
  const found = new Map(live.map((element) => [keyText(element, keys), element]));
  return desired.flatMap((element) => {
    const key = keyText(element, keys);
    return compareFields(element, found.get(key), `${path}[${key}]`);
  });
}

/** Paths of the fields that have no fields below them, named as `compareFields` names them; a list that is replaced as a whole is one. */
export function leafPaths(value: unknown, path = ''): string[] {
  if (isFields(value) && !isEmpty(value)) {
    return Object.entries(value).flatMap(([name, field]) =>
      field === undefined ? [] : leafPaths(field, below(path, name)),
    );
  }
  const keys = Array.isArray(value) ? keysOf(path) : undefined;
  if (!Array.isArray(value) || keys === undefined) return [path];
  return value.flatMap((element) => leafPaths(element, `${path}[${keyText(element, keys)}]`));
}

/** Undefined for a list that is replaced as a whole. */
function keysOf(path: string): readonly string[] | undefined {
  return keysOfLists.find(({ list }) => list.test(path))?.keys;
}

/** Values of the key fields, `8081/TCP`. */
function keyText(element: unknown, keys: readonly string[]): string {
  return keys.map((key) => String(isFields(element) ? element[key] : '')).join('/');
}

function isSame(desired: unknown, live: unknown, path: string): boolean {
  if (desired === live) return true;
  if (!amounts.test(path)) return false;
  const [wanted, found] = [quantity(desired), quantity(live)];
  return wanted !== undefined && wanted === found;
}

/** Field names with a dot in them, as of annotations, stand in brackets. */
function below(path: string, name: string): string {
  if (/[./[\]]/.test(name)) return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
}

export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The API server drops empty objects and lists that mean nothing. */
function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
