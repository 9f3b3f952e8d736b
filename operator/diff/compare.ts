import { fieldPath, isFields, keysOfList, keyText } from '../kubernetes/keyed-lists.ts';
import { quantity, roundedUp } from './quantity.ts';
import { isDropped, setsNothing } from './unset.ts';

/**
 * A field that differs from the wanted value. Paths follow `kubectl explain`, with list elements by key:
 * `spec.template.spec.containers[api].image`.
 */
export type FieldChange = {
  readonly path: string;
  /** `undefined` when the field is not there. */
  readonly before: unknown;
  readonly after: unknown;
};

/** Amounts of resources by name, such as `limits[example.com/gpu]`. The API server rounds them up to thousandths. */
const resourceAmounts = /\.(requests|limits|overhead)(\.[^.[]+|\[[^\]]+\])$/;

/** Other fields that hold amounts: `1000m` is `1`. */
const amounts = /\.(sizeLimit|averageValue|divisor)$/;

/**
 * Fields of `desired` that `live` has otherwise or not at all. Fields that only `live` has are not ours: defaults of the API server, and what others set.
 */
export function compareFields(desired: unknown, live: unknown): FieldChange[] {
  const changes: FieldChange[] = [];
  compare(desired, live, '', changes);
  return changes;
}

/** Adds what differs at the path and below it. */
function compare(desired: unknown, live: unknown, path: string, changes: FieldChange[]): void {
  if (setsNothing(desired, path) || (live === undefined && isDropped(desired, path))) return;
  if (isFields(desired) && isFields(live)) {
    for (const name of Object.keys(desired)) {
      if (desired[name] !== undefined) compare(desired[name], live[name], fieldPath(path, name), changes);
    }
  } else if (Array.isArray(desired) && Array.isArray(live)) {
    compareLists(desired, live, path, changes);
  } else if (!isSame(desired, live, path)) {
    changes.push({ path, before: live, after: desired });
  }
}

function compareLists(
  desired: readonly unknown[],
  live: readonly unknown[],
  path: string,
  changes: FieldChange[],
): void {
  const keys = keysOfList(path);
  if (keys !== undefined) {
    const found = new Map(live.map((element) => [keyText(element, keys), element]));
    for (const element of desired) {
      const key = keyText(element, keys);
      compare(element, found.get(key), `${path}[${key}]`, changes);
    }
  } else if (desired.length === live.length) {
    desired.forEach((value, index) => compare(value, live[index], `${path}[${index}]`, changes));
  } else {
    changes.push({ path, before: live, after: desired });
  }
}

/**
 * The desired value with live values at the given paths. A field that live lacks is left out.
 * An ignored path below a list that is replaced as a whole takes effect while both lists have the same length.
 */
export function withLiveFields(
  desired: unknown,
  live: unknown,
  isIgnored: (path: string) => boolean,
  path = '',
): unknown {
  if (path !== '' && isIgnored(path)) return live;
  if (isFields(desired) && isFields(live)) {
    const fields = Object.entries(desired).map(([name, value]): [string, unknown] => [
      name,
      withLiveFields(value, live[name], isIgnored, fieldPath(path, name)),
    ]);
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  if (!Array.isArray(desired) || !Array.isArray(live)) return desired;
  const keys = keysOfList(path);
  if (keys === undefined) {
    if (desired.length !== live.length) return desired;
    return desired.map((value, index) => withLiveFields(value, live[index], isIgnored, `${path}[${index}]`));
  }
  const found = new Map(live.map((element) => [keyText(element, keys), element]));
  return desired.map((element) => {
    const key = keyText(element, keys);
    return found.has(key) ? withLiveFields(element, found.get(key), isIgnored, `${path}[${key}]`) : element;
  });
}

/** Paths of the fields without fields below them, named as in `compareFields`. A list that is replaced as a whole is one leaf. */
export function leafPaths(value: unknown, path = ''): string[] {
  if (isFields(value) && !isEmpty(value)) {
    return Object.entries(value).flatMap(([name, field]) =>
      field === undefined ? [] : leafPaths(field, fieldPath(path, name)),
    );
  }
  const keys = Array.isArray(value) ? keysOfList(path) : undefined;
  if (!Array.isArray(value) || keys === undefined) return [path];
  return value.flatMap((element) => leafPaths(element, `${path}[${keyText(element, keys)}]`));
}

function isSame(desired: unknown, live: unknown, path: string): boolean {
  if (desired === live) return true;
  const isOfResource = resourceAmounts.test(path);
  if (!isOfResource && !amounts.test(path)) return false;
  const [wanted, found] = [quantity(desired), quantity(live)];
  return wanted !== undefined && (isOfResource ? roundedUp(wanted) : wanted) === found;
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
