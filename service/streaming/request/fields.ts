import { StreamingError } from '../errors.ts';

/** Fields of a message. Null equals absent. Each reader throws StreamingError `invalid_subscription`. */
export type Fields = {
  /** @param unknown start of the text about another word */
  readonly word: <const T extends string>(name: string, words: readonly T[], fallback: T, unknown: string) => T;
  readonly flag: (name: string) => boolean;
  readonly text: (name: string) => string | undefined;
  readonly texts: (name: string) => readonly string[];
  readonly refusal: (name: string, expected: string) => StreamingError;
};

/** @param request start of the text about a field of another form */
export function createFields(source: Readonly<Record<string, unknown>>, request: string): Fields {
  const valueOf = (name: string): unknown => (Object.hasOwn(source, name) ? (source[name] ?? undefined) : undefined);
  const broken = (text: string): StreamingError => new StreamingError('invalid_subscription', `${request}: ${text}`);
  const refusal = (name: string, expected: string): StreamingError => broken(`${name}: expected ${expected}`);

  const text = (name: string): string | undefined => {
    const value = valueOf(name);
    if (value !== undefined && typeof value !== 'string') throw refusal(name, 'a string');
    return value;
  };

  return {
    word(name, words, fallback, unknown) {
      const value = text(name);
      if (value === undefined) return fallback;
      const found = words.find((one) => one === value);
      if (found === undefined) throw broken(`${unknown}: ${value.slice(0, WORD_MAX)}`);
      return found;
    },
    flag(name) {
      const value = valueOf(name);
      if (value !== undefined && typeof value !== 'boolean') throw refusal(name, 'a boolean');
      return value ?? false;
    },
    text,
    texts(name) {
      const value = valueOf(name);
      if (value === undefined) return [];
      const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
      if (!isList) throw refusal(name, 'an array of strings');
      return value;
    },
    refusal,
  };
}

/** Characters of an unknown word that an error repeats. */
const WORD_MAX = 64;

/** Characters of an id. */
const ID_MAX = 256;

/**
 * Returns the id of a message; undefined without one.
 * @throws StreamingError `invalid_subscription`
 */
export function readId(source: Readonly<Record<string, unknown>>, request: string): string | undefined {
  const fields = createFields(source, request);
  const id = fields.text('id');
  if (id !== undefined && id.length > ID_MAX) throw fields.refusal('id', `at most ${ID_MAX} characters`);
  return id;
}
