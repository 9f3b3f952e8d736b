/**
 * Lists whose elements the API server merges by a key; all others are replaced as a whole. Elements of others stay in them: what injects a sidecar may.
 * Paths follow `kubectl explain`.
 */
const keyedLists: readonly { readonly list: RegExp; readonly keys: readonly string[] }[] = [
  { list: /(^|\.)ownerReferences$/, keys: ['uid'] },
  {
    list: /(^|\.)(containers|initContainers|env|volumes|imagePullSecrets|resourceClaims|schedulingGates)$/,
    keys: ['name'],
  },
  { list: /(^|\.)hostAliases$/, keys: ['ip'] },
  { list: /(^|\.)volumeDevices$/, keys: ['devicePath'] },
  { list: /(^|\.)volumeMounts$/, keys: ['mountPath'] },
  { list: /(^|\.)topologySpreadConstraints$/, keys: ['topologyKey', 'whenUnsatisfiable'] },
  { list: /\.(containers|initContainers)\[[^\]]*\]\.ports$/, keys: ['containerPort', 'protocol'] },
  { list: /^spec\.ports$/, keys: ['port', 'protocol'] },
];

/** Undefined for a list that is replaced as a whole. */
export function keysOfList(path: string): readonly string[] | undefined {
  return keyedLists.find(({ list }) => list.test(path))?.keys;
}

/** Values of the key fields, `8081/TCP`. */
export function keyText(element: unknown, keys: readonly string[]): string {
  return keys.map((key) => String(isFields(element) ? element[key] : '')).join('/');
}

/** Path of a field below another. Names with a dot in them, such as those of annotations, stand in brackets. */
export function fieldPath(above: string, name: string): string {
  if (/[./[\]]/.test(name)) return `${above}[${name}]`;
  return above === '' ? name : `${above}.${name}`;
}

/** True for an object that is no list. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
