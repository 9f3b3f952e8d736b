import type { Json, OpenApi } from '#test/service/http/reference.ts';

/** A difference between our generated document and the published one that is meant, found by its place. */
export type KnownDifference = { readonly at: RegExp; readonly why: string };

export const knownDifferences: readonly KnownDifference[] = [];

/** Words that describe and bind nobody. */
const prose = new Set(['description', 'summary', 'examples', 'discriminator', 'tags', 'operationId', 'title', 'security']);

/** Places where what callers depend on differs: methods, parameters, bodies, answers by status. References are followed. */
export function documentDifferences(ours: OpenApi, published: OpenApi): string[] {
  const paths = [...new Set([...Object.keys(ours.paths), ...Object.keys(published.paths)])].toSorted();
  return paths.flatMap((path) =>
    compare(flatten(ours, ours.paths[path]), flatten(published, published.paths[path]), path),
  );
}

function compare(ours: unknown, published: unknown, place: string): string[] {
  if (isObject(ours) && isObject(published)) {
    const keys = [...new Set([...Object.keys(ours), ...Object.keys(published)])];
    return keys.flatMap((key) => compare(ours[key], published[key], `${place} ${key}`));
  }
  const [left, right] = [JSON.stringify(ours), JSON.stringify(published)];
  return left === right ? [] : [`${place}: ${short(left)} instead of ${short(right)}`];
}

function short(text: string | undefined): string {
  return text === undefined ? 'nothing' : text.length > 300 ? `${text.slice(0, 300)}...` : text;
}

/** The value without prose, references replaced by what they refer to, lists whose order says nothing sorted. */
function flatten(document: OpenApi, value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => flatten(document, item));
    if (key === 'required' || key === 'enum') return items.map(String).toSorted();
    if (key === 'parameters') return Object.fromEntries(items.map((item) => [(item as Json)['name'], item]));
    return { ...items };
  }
  if (!isObject(value)) return value;
  const target = value['$ref'];
  if (typeof target === 'string') return flatten(document, follow(document, target), key);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => !prose.has(name) || (key === 'properties' && isObject(item)))
      .map(([name, item]) => [name, flatten(document, item, name)]),
  );
}

function follow(document: OpenApi, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, step) => (node as Json)[step], document);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
