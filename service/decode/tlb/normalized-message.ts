import type { CellDigest } from '../cell-digest.ts';
import { digestOrdinary } from '../cell-digest.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { skipInternalAddress, skipMessageAddress } from './message-address.ts';

/**
 * Returns the hash of an external-in message without the parts that its sender may choose freely (TEP-467). The normal form is `ext_in_msg_info$10`,
 * no source, the unchanged destination, no import fee, no init, the body in a reference. Two messages with the same normalized hash are the same
 * request to an account.
 * @param cell of the message
 * @param body digest of its body as a cell of its own
 */
export function normalizedMessageHash(table: CellTable, cell: number, body: CellDigest): Buffer {
  const slice = new CellSlice(table, cell);
  slice.skip(2);
  skipMessageAddress(slice);
  const start = slice.clone();
  skipInternalAddress(slice);
  const bits = slice.position - start.position;
  const destination = start.bits(bits);
  // Four bits are before the destination, six after it: 1000 and 000001.
  const bitLength = 4 + bits + 6;
  const data = Buffer.alloc((bitLength + 7) >> 3);
  let carry = 0x80;
  for (let index = 0; index < destination.length; index++) {
    data[index] = carry | (destination[index]! >> 4);
    carry = (destination[index]! << 4) & 0xff;
  }
  if (destination.length < data.length) data[destination.length] = carry;
  data[(bitLength - 1) >> 3]! |= 128 >> ((bitLength - 1) & 7);
  return digestOrdinary(data, bitLength, [body]).hash;
}
