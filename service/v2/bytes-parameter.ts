import { invalid } from '../contract/errors.ts';
import type { RequiredParameter } from '../contract/parameter.ts';

/** The bag of cells that a send operation takes: base64 of either alphabet, padded or not (v2 sheet 7.1). */
export const boc: RequiredParameter<Buffer> = {
  name: 'boc',
  missing: 'empty boc',
  emptyIsAbsent: true,
  parse: (raw) => {
    if (typeof raw !== 'string') throw invalid('failed to parse boc', 'boc');
    return readBase64(raw, 'boc');
  },
  check: () => undefined,
  input: { name: 'Base64Input', schema: { type: 'string', pattern: '^[A-Za-z0-9+/_-]+={0,2}$' } },
};

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
