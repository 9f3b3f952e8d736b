import { parseBoc, type Boc } from '../decode/boc.ts';
import { DecodeError } from '../decode/errors.ts';
import { invalid } from './errors.ts';
import type { DefaultedParameter, RequiredParameter } from './parameter.ts';

// Bags of cells that callers send, in base64.

const input = { name: 'Base64Input', schema: { type: 'string', pattern: '^[A-Za-z0-9+/_-]+={0,2}$' } };

/** Bytes that their reader checks: base64 of either alphabet, padded or not (service/v2/README.md#inputs). */
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

/** The body of a message from outside: a bag of cells with one root. */
export function bodyBag(name: string, missing: string): RequiredParameter<Buffer> {
  return { ...bytes(name, missing), check: (value) => flawOfBody(value, name) };
}

/** Code or data of a new account: a bag of cells with one root, or an empty text for none. */
export function optionalStateBag(name: string): DefaultedParameter<Buffer | ''> {
  return {
    name,
    missing: undefined,
    emptyIsAbsent: true,
    fallback: '',
    parse: (raw) => readBytes(raw, name),
    check: (value) => flawOfState(value, name),
    input: { name: 'Base64InputOrEmpty', schema: { type: 'string', pattern: '^[A-Za-z0-9+/_-]*={0,2}$' } },
  };
}

function readBytes(raw: unknown, name: string): Buffer {
  if (typeof raw !== 'string') throw invalid(`failed to parse ${name}`, name);
  return readBase64(raw, name);
}

/**
 * Depth of a part of a message from outside. The network takes messages below 512 cells of depth, and the message's own cell is
 * above its parts.
 */
const PART_DEPTH_MAX = 510;

/** Cells of a part: as many as the network takes in a message. To read and hash them takes some 7 ms. */
export const PART_CELLS_MAX = 8_192;

/** Reason why bytes cannot be the body of a message from outside; undefined when they can. The network reads no exotic body. */
export function flawOfBody(value: Buffer, name: string): string | undefined {
  return flawOfPart(value, name, { exotic: false });
}

/** Reason why bytes cannot be code or data of a new account; undefined when they can. Empty bytes stand for none. */
export function flawOfState(value: Buffer | '', name: string): string | undefined {
  return value === '' ? undefined : flawOfPart(value, name, { exotic: true });
}

/** The reason is in the reference client's words. @param allowed `exotic`: the root may be an exotic cell */
function flawOfPart(value: Buffer, name: string, allowed: { readonly exotic: boolean }): string | undefined {
  const refusal = (reason: string): string => `INVALID_BAG_OF_CELLS: ${name}${reason}`;
  try {
    const bag = parseBocParameter(value, PART_CELLS_MAX);
    const root = bag.roots[0]!;
    if (!allowed.exotic && bag.kind(root) !== 'ordinary') return refusal('The root is an exotic cell.');
    return bag.depth(root) > PART_DEPTH_MAX ? refusal(`Cells are deeper than ${PART_DEPTH_MAX}.`) : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return refusal(error.message);
    throw error;
  }
}

/** A bag of cells with one root; the hashes in its Merkle cells are checked. Throws DecodeError. */
export function parseBocParameter(value: Buffer, cellsMax: number): Boc {
  const bag = parseBoc(value, { rootsMax: 1, cellsMax });
  bag.hash(bag.roots[0]!);
  return bag;
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
