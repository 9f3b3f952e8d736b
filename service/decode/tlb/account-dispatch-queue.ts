import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';

/** Messages of one account that wait for the turn of the account. */
export type AccountDispatchQueue = {
  /** Root of `Hashmap 64 EnqueuedMsg`, by lt. */
  readonly messages: number;
  readonly count: bigint;
};

/**
 * `_ messages:(HashmapE 64 EnqueuedMsg) count:uint48 = AccountDispatchQueue`. Throws DecodeError `bad_tag` for an empty queue, which is not allowed.
 */
export function readAccountDispatchQueue(slice: CellSlice): AccountDispatchQueue {
  const messages = slice.maybeRef();
  if (messages === undefined) {
    throw new DecodeError('bad_tag', 'The queue of an account is empty.', {
      cell: slice.cell,
      type: 'AccountDispatchQueue',
    });
  }
  return { messages, count: slice.uintBig(48) };
}

/** The reverse of `readAccountDispatchQueue`. */
export function writeAccountDispatchQueue(writer: BitWriter, { messages, count }: AccountDispatchQueue): BitWriter {
  return writer.maybeRef(messages).int(count, 48);
}
