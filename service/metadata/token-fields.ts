import { outsideOf, sayEnough, wordsOf, type TokenType, type TokenWords } from '../store/token-content.ts';
import type { JsonObject } from './bounded-json.ts';

/** Most characters of names and symbols, in lists too; longer text is cut. */
const NAME_CHARS_MAX = 1024;
const DESCRIPTION_CHARS_MAX = 16_384;

/** Most characters of an image: a link, or a small picture (`data:`). Longer ones are dropped, because a part of a link leads nowhere. */
const IMAGE_CHARS_MAX = 65_536;

/**
 * Most characters of `extra` as JSON; an answer may have a thousand of them. Fields that do not fit are dropped; fields of the chain are the last to
 * be dropped.
 */
const EXTRA_CHARS_MAX = 65_536;

/** Most characters of a key; nothing reads longer ones. */
const KEY_CHARS_MAX = 256;

/**
 * Merges the metadata of a token (service/metadata/README.md#token-metadata). Metadata outside of the chain comes first, and keys on the chain
 * override it. Texts of strangers are bounded, and valid for Postgres and readers of JSON.
 *
 * @param outside null when there is nothing useful outside
 */
export function mergeTokenFields(type: TokenType, onChain: JsonObject, outside: JsonObject | null): TokenWords {
  const known = cleanObject(onChain);
  const merged = { ...(outside && cleanObject(outside)), ...known };
  const { name, description, symbol, image, extra } = wordsOf(withTextDecimals(type, merged));
  return {
    name: cut(name, NAME_CHARS_MAX),
    symbol: cut(symbol, NAME_CHARS_MAX),
    description: cut(description, DESCRIPTION_CHARS_MAX),
    image: image !== null && image.length > IMAGE_CHARS_MAX ? null : image,
    extra: fitting(extra, new Set(Object.keys(known))),
  };
}

/** Returns what to fetch for a token, or whether the chain's data are enough (service/metadata/README.md#token-metadata). */
export function planFetch(type: TokenType, content: JsonObject): { readonly uri: string } | 'enough' | 'nothing' {
  const uri = outsideOf(content);
  if (uri !== undefined) return { uri };
  return sayEnough(type, wordsOf(content)) ? 'enough' : 'nothing';
}

/** Converts decimals of a jetton to text. TEP-64 has them as text and clients rely on it; pages often have a number. */
function withTextDecimals(type: TokenType, words: JsonObject): JsonObject {
  const { decimals } = words;
  if (type !== 'jetton_masters' || typeof decimals !== 'number' || !Number.isSafeInteger(decimals)) return words;
  return { ...words, decimals: String(decimals) };
}

function cut(text: string | null, charsMax: number): string | null {
  // The cut may split a pair of surrogates.
  return text === null || text.length <= charsMax ? text : text.slice(0, charsMax).toWellFormed();
}

/** Returns the fields that fit, `first` before others, in their own order. */
function fitting(fields: JsonObject, first: ReadonlySet<string>): JsonObject {
  let chars = 0;
  const fittingNames = new Set<string>();
  const entries = Object.entries(fields).map(([name, value]) => ({ name, chars: name.length + lengthOf(value) }));
  for (const { name, chars: more } of entries.toSorted(
    (a, b) => Number(first.has(b.name)) - Number(first.has(a.name)),
  )) {
    if (chars + more > EXTRA_CHARS_MAX) continue;
    chars += more;
    fittingNames.add(name);
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => fittingNames.has(name)));
}

function lengthOf(value: unknown): number {
  return (JSON.stringify(value) ?? '').length;
}

function cleanObject(fields: JsonObject): JsonObject {
  // `__proto__` is harmless here as an own field, but not for a reader that copies fields by assignment.
  const named = Object.entries(fields).map(([name, value]) => [cleanText(name), value] as const);
  const entries = named.filter(([name]) => name !== '__proto__' && name.length <= KEY_CHARS_MAX);
  return Object.fromEntries(entries.map(([name, value]) => [name, clean(value)]));
}

/** Cleans a value. The guard has bounded its depth. */
function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  // Numbers such as 1e400 are not finite.
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(clean);
  return typeof value === 'object' && value !== null ? cleanObject(value as JsonObject) : value;
}

/** Removes NUL and halves of surrogate pairs, which Postgres cannot store. */
function cleanText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
