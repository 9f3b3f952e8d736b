import { parseBoc } from '../decode/boc.ts';
import { DecodeError } from '../decode/errors.ts';
import { invalid } from './errors.ts';
import type { DefaultedParameter, RequiredParameter } from './parameter.ts';

// Bags of cells that callers send, in base64.

const input = { name: 'Base64Input', schema: { type: 'string', pattern: '^[A-Za-z0-9+/_-]+={0,2}$' } };

/** Bytes that whoever reads them looks into: base64 of either alphabet, padded or not (v2 sheet 7.1). */
export function bytes(name: string, missing: string): RequiredParameter<Buffer> {
  return {
    name,
    missing,
    emptyIsAbsent: true,
    parse: (raw) => readBytes(raw, name),
    check: () => undefined,
    input,
  };
}

/** A bag of cells with one root. */
export function bag(name: string, missing: string): RequiredParameter<Buffer> {
  return { ...bytes(name, missing), check: (value) => flawOf(value, name) };
}

/** A bag of cells with one root, or an empty text for none. */
export function optionalBag(name: string): DefaultedParameter<Buffer | ''> {
  return {
    name,
    missing: undefined,
    emptyIsAbsent: true,
    fallback: '',
    parse: (raw) => readBytes(raw, name),
    check: (value) => (value === '' ? undefined : flawOf(value, name)),
    input: { name: 'Base64InputOrEmpty', schema: { type: 'string', pattern: '^[A-Za-z0-9+/_-]*={0,2}$' } },
  };
}

function readBytes(raw: unknown, name: string): Buffer {
  if (typeof raw !== 'string') throw invalid(`failed to parse ${name}`, name);
  return readBase64(raw, name);
}

/** What is wrong with bytes that are no bag of cells with one root, in the reference client's library's words (v2 sheet 4.3). */
function flawOf(value: Buffer, name: string): string | undefined {
  try {
    parseBoc(value, { rootsMax: 1 });
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return `INVALID_BAG_OF_CELLS: ${name}${error.message}`;
    throw error;
  }
}

/**
 * Bytes of base64 or base64url, both alphabets mixed if need be, with the right padding or none.
 * @throws ContractError
 */
export function readBase64(text: string, name: string): Buffer {
  const refuse = (reason: string): never => {
    throw invalid(`invalid base64 encoded bytes: ${reason}`, name);
  };
  const parts = /^([A-Za-z0-9+/_-]*)(={0,2})$/.exec(text);
  if (parts === null) return refuse('wrong character in the string');
  const [, digits = '', padding = ''] = parts;
  if (digits.length % 4 === 1) return refuse('wrong string length');
  if (padding !== '' && text.length % 4 !== 0) return refuse('wrong padding length');
  return Buffer.from(digits, 'base64');
}
