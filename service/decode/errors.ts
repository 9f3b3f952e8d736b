import { TonplaneError } from '../error.ts';

/**
 * Codes of DecodeError, for bytes that should be cells or TON values.
 *
 * - `bad_boc`: the bag's header, index, length or references break the format.
 * - `crc_mismatch`: the bag's CRC-32C does not fit its bytes.
 * - `too_big`: more bytes, cells, roots, depth or entries than the limit.
 * - `bad_cell`: a cell breaks the rules of its kind (size, references, level mask).
 * - `hash_mismatch`: a hash or depth stored in a cell or a bag differs from the computed one.
 * - `cell_underflow`: a read exceeds the bits or references of the cell.
 * - `pruned_branch`: a pruned cell replaces a value: the proof is incomplete.
 * - `exotic_cell`: a library or Merkle cell replaces an ordinary one.
 * - `bad_tag`: no constructor of the TL-B type starts with these bits.
 * - `bad_value`: a field is outside its type.
 * - `bad_hashmap`: a dictionary breaks the format.
 * - `missing_cell`: a state update refers to a cell that the store lacks.
 */
export type DecodeErrorCode =
  | 'bad_boc'
  | 'crc_mismatch'
  | 'too_big'
  | 'bad_cell'
  | 'hash_mismatch'
  | 'cell_underflow'
  | 'pruned_branch'
  | 'exotic_cell'
  | 'bad_tag'
  | 'bad_value'
  | 'bad_hashmap'
  | 'missing_cell';

/** Position of the failure; absent fields are unknown. */
export type DecodeErrorData = {
  /** Index of the cell in its table. */
  readonly cell?: number;
  /** Byte offset in the input. */
  readonly offset?: number;
  /** TL-B type, or part of the format, that was read. */
  readonly type?: string;
  /** Refused number, and the bound that it exceeds. */
  readonly found?: number;
  readonly limit?: number;
};

/** Error for malformed bytes. Never retryable by itself: the same bytes fail again. */
export class DecodeError extends TonplaneError<DecodeErrorCode, DecodeErrorData> {
  constructor(code: DecodeErrorCode, message: string, data: DecodeErrorData = {}) {
    super({ code, message, data, retryable: false });
  }
}
