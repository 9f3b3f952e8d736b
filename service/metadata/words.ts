import { outsideOf, sayEnough, wordsOf, type TokenType, type TokenWords } from '../store/token-content.ts';
import type { JsonObject } from './bounded-json.ts';

/** Names and symbols in lists, and texts beside them: cut there. */
const nameCharsMax = 1024;
const descriptionCharsMax = 16_384;

/** A link, or a small picture itself (`data:`). Longer ones are left out: a part of a link leads nowhere. */
const imageCharsMax = 65_536;

/** All that is `extra`, as JSON: answers hold up to a thousand of them. Fields that do not fit are left out, the chain's last. */
const extraCharsMax = 65_536;

/** Longer ones name nothing that anybody reads. */
const keyCharsMax = 256;

/**
 * What a token says of itself: what is outside first, keys on the chain win (indexing sheet 7). Texts of strangers come out bounded, and such that
 * Postgres and readers of JSON can hold them.
 *
 * @param outside null where there is nothing of use outside
 */
export function mergeWords(type: TokenType, onChain: JsonObject, outside: JsonObject | null): TokenWords {
  const known = cleanObject(onChain);
  const merged = { ...(outside && cleanObject(outside)), ...known };
  const { name, description, symbol, image, extra } = wordsOf(withTextDecimals(type, merged));
  return {
    name: cut(name, nameCharsMax),
    symbol: cut(symbol, nameCharsMax),
    description: cut(description, descriptionCharsMax),
    image: image !== null && image.length > imageCharsMax ? null : image,
    extra: fitting(extra, new Set(Object.keys(known))),
  };
}

/** What is to be fetched for a token, or whether what the chain says is enough without (indexing sheet 7). */
export function planFetch(type: TokenType, content: JsonObject): { readonly uri: string } | 'enough' | 'nothing' {
  const uri = outsideOf(content);
  if (uri !== undefined) return { uri };
  return sayEnough(type, wordsOf(content)) ? 'enough' : 'nothing';
}

/** TEP-64 has the decimals of a jetton as text, and clients rely on it; pages often have a number. */
function withTextDecimals(type: TokenType, words: JsonObject): JsonObject {
  const { decimals } = words;
  if (type !== 'jetton_masters' || typeof decimals !== 'number' || !Number.isSafeInteger(decimals)) return words;
  return { ...words, decimals: String(decimals) };
}

function cut(text: string | null, charsMax: number): string | null {
  // A pair of surrogates may have been cut in two.
  return text === null || text.length <= charsMax ? text : text.slice(0, charsMax).toWellFormed();
}

/** The fields that fit, those of `first` before others, in their own order. */
function fitting(fields: JsonObject, first: ReadonlySet<string>): JsonObject {
  let chars = 0;
  const kept = new Set<string>();
  const entries = Object.entries(fields).map(([name, value]) => ({ name, chars: name.length + lengthOf(value) }));
  for (const { name, chars: more } of entries.toSorted(
    (a, b) => Number(first.has(b.name)) - Number(first.has(a.name)),
  )) {
    if (chars + more > extraCharsMax) continue;
    chars += more;
    kept.add(name);
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => kept.has(name)));
}

function lengthOf(value: unknown): number {
  return (JSON.stringify(value) ?? '').length;
}

function cleanObject(fields: JsonObject): JsonObject {
  // As an own field it is harmless here, but not to whoever copies fields by assignment.
  const entries = Object.entries(fields).filter(([name]) => name !== '__proto__' && name.length <= keyCharsMax);
  return Object.fromEntries(entries.map(([name, value]) => [cleanText(name), clean(value)]));
}

/** The depth of values has been bounded before. */
function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  // Such as 1e400.
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(clean);
  return typeof value === 'object' && value !== null ? cleanObject(value as JsonObject) : value;
}

/** Postgres holds neither NUL nor halves of surrogate pairs. */
function cleanText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
