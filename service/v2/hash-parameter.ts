import { readAddress } from './address-parameter.ts';
import { invalid } from '../contract/errors.ts';
import type { OptionalParameter, ParameterSource, RequiredParameter } from '../contract/parameter.ts';

const input = {
  name: 'HashInput',
  schema: {
    type: 'string',
    pattern: '^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=|[A-Za-z0-9_-]{43})$',
    description: 'hex, base64 or base64url',
  },
};

/** A 32-byte hash that may be left out; an empty text is absent. */
export function optionalHash(name: string): OptionalParameter<Buffer> {
  return { name, missing: undefined, emptyIsAbsent: true, ...reading(name, readHash), input };
}

/** The hash that an operation is about. */
export const hash: RequiredParameter<Buffer> = {
  name: 'hash',
  missing: 'empty hash',
  emptyIsAbsent: true,
  ...reading('hash', readHash),
  input,
};

/** A list of hashes that may be left out; empty texts in it are absent, as in a query. */
export function optionalHashes(name: string): OptionalParameter<readonly Buffer[]> {
  const one = reading(name, readHash);
  return {
    name,
    missing: undefined,
    repeats: true,
    parse: (raw, kind) => {
      if (!Array.isArray(raw)) throw invalid(`failed to parse ${name}`, name);
      return raw.filter((item) => item !== '').map((item) => one.parse(item, kind));
    },
    check: () => undefined,
    input,
  };
}

/** A 32-byte account id: an address without its workchain, or any form of a hash (service/v2/README.md#inputs). */
export function optionalAccountId(name: string): OptionalParameter<Buffer> {
  return {
    name,
    missing: undefined,
    emptyIsAbsent: true,
    ...reading(name, (text, kind) => readAddress(text, kind)?.id ?? readHash(text, kind)),
    input: {
      name: 'AccountIdInput',
      schema: {
        type: 'string',
        pattern:
          '^(?:-?\\d{1,10}:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{48}|[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=|[A-Za-z0-9_-]{43})$',
        description: 'account id: an address (workchain dropped) or 32 bytes in any hash form',
      },
    },
  };
}

function reading(name: string, read: (text: string, kind: ParameterSource['kind']) => Buffer | undefined) {
  return {
    parse: (raw: unknown, kind: ParameterSource['kind']): Buffer => {
      const bytes = typeof raw === 'string' ? read(raw, kind) : undefined;
      if (bytes === undefined) throw invalid(`failed to parse ${name}`, name);
      return bytes;
    },
    check: () => undefined,
  };
}

/**
 * Reads a hash: 64 hex digits, 44 characters of either base64 alphabet, or 43 of base64url (service/v2/README.md#inputs).
 * A space in a query is an unescaped `+`, because no hash has a space.
 */
export function readHash(text: string, kind: ParameterSource['kind']): Buffer | undefined {
  const given = kind === 'query' ? text.replaceAll(' ', '+') : text;
  if (/^[0-9a-fA-F]{64}$/.test(given)) return Buffer.from(given, 'hex');
  if (!/^(?:[A-Za-z0-9+/_-]{43}=|[A-Za-z0-9_-]{43})$/.test(given)) return undefined;
  return Buffer.from(given, 'base64');
}
