import type { Json, OpenApi } from '#test/service/http/reference.ts';

/** A difference between our generated document and the published one that is meant, found by its place. */
export type KnownDifference = { readonly at: RegExp; readonly why: string };

export const knownDifferences: readonly KnownDifference[] = [
  {
    at: / responses 413: .* instead of nothing$/,
    why: 'every operation that takes a body refuses one that is too large',
  },
  {
    at: / responses 542: nothing instead of /,
    why: 'no request names a kind of lite server: one that lacks what is asked for is followed by one that has it, and without any the answer is 503',
  },
  {
    at: /^\/api\/v2\/(detect|pack|unpack)\w+ \w+ responses 50[34]: .* instead of nothing$/,
    why: 'too many requests in flight, and a body that comes too slowly, end any operation',
  },
  {
    at: / responses 429 content application\/json schema properties error (type|minLength|pattern|const): /,
    why: 'the text for a caller without a key may explain how to get one',
  },
  { at: / x-rpc-methods: /, why: 'a note for tools, no part of what is asked or answered' },
];

/** A branch is named by all it says; so much of it tells which one it is. */
const placeMax = 200;

/** Words that describe and bind nobody. */
const prose = new Set([
  'description',
  'summary',
  'examples',
  'discriminator',
  'tags',
  'operationId',
  'title',
  'security',
]);

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
    return keys.flatMap((key) => compare(ours[key], published[key], `${place} ${key.slice(0, placeMax)}`));
  }
  const [left, right] = [JSON.stringify(ours), JSON.stringify(published)];
  return left === right ? [] : [`${place}: ${short(left)} instead of ${short(right)}`];
}

function short(text: string | undefined): string {
  return text === undefined ? 'nothing' : text.length > 300 ? `${text.slice(0, 300)} ...` : text;
}

/** The value without prose, references replaced by what they refer to, lists whose order says nothing sorted. */
function flatten(document: OpenApi, value: unknown, key = '', within: readonly string[] = []): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => flatten(document, item, '', within));
    if (key === 'required' || key === 'enum') return items.map(String).toSorted((a, b) => a.localeCompare(b));
    if (key === 'parameters') return Object.fromEntries(items.map((item) => [(item as Json)['name'], item])) as Json;
    if (key === 'anyOf' || key === 'oneOf') return Object.fromEntries(items.map((item) => [shapeOf(item), item]));
    return Object.fromEntries(items.entries());
  }
  if (!isObject(value)) return value;
  const target = value['$ref'];
  if (typeof target === 'string') {
    // A stack holds stacks: how many references up the same schema stands is all there is to say.
    if (within.includes(target)) return { recursion: within.length - within.indexOf(target) };
    return flatten(document, follow(document, target), key, [...within, target]);
  }
  const { allOf: whole, ...rest } = value;
  if (Array.isArray(whole) && whole.length === 1) {
    // A default beside a reference is written around it.
    return { ...(flatten(document, whole[0], key, within) as Json), ...(flatten(document, rest, key, within) as Json) };
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => !prose.has(name) || (key === 'properties' && isObject(item)))
      .map(([name, item]) => [name, flatten(document, item, name, within)]),
  );
}

/** Names a branch by what it is, as branches have no order. */
function shapeOf(branch: unknown): string {
  return JSON.stringify(branch, (_key, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b))) : value,
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
