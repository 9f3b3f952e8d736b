import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';

/** Rewriting of the first bits of an address; `prefix` has `depth` bits, high bit first. */
export type Anycast = { readonly depth: number; readonly prefix: Buffer };

/** Account in the form of messages. `addr_std` has 256-bit ids, `addr_var` any length up to 511. */
export type InternalAddress = {
  readonly kind: 'internal';
  readonly workchain: number;
  /** `bitLength` bits, high bit first; 32 bytes for `addr_std`. */
  readonly id: Buffer;
  readonly bitLength: number;
  readonly anycast: Anycast | undefined;
  readonly variable: boolean;
};

/** Address outside the chain, in bits of no fixed meaning. */
export type ExternalAddress = { readonly kind: 'external'; readonly bits: Buffer; readonly bitLength: number };

export type MessageAddress = InternalAddress | ExternalAddress;

/**
 * `addr_none$00`, `addr_extern$01 len:(## 9) external_address:(bits len)`,
 * `addr_std$10 anycast:(Maybe Anycast) workchain_id:int8 address:bits256`,
 * `addr_var$11 anycast:(Maybe Anycast) addr_len:(## 9) workchain_id:int32 address:(bits addr_len)`.
 * @returns undefined for `addr_none`
 */
export function readMessageAddress(slice: CellSlice): MessageAddress | undefined {
  const tag = slice.uint(2);
  if (tag === 0) return undefined;
  if (tag === 1) {
    const bitLength = slice.uint(9);
    return { kind: 'external', bits: slice.bits(bitLength), bitLength };
  }
  const anycast = slice.bit() ? readAnycast(slice) : undefined;
  if (tag === 2) {
    return { kind: 'internal', workchain: slice.int(8), id: slice.hash(), bitLength: 256, anycast, variable: false };
  }
  const bitLength = slice.uint(9);
  return { kind: 'internal', workchain: slice.int(32), id: slice.bits(bitLength), bitLength, anycast, variable: true };
}

/** Skips a `MsgAddress`. */
export function skipMessageAddress(slice: CellSlice): void {
  const tag = slice.uint(2);
  if (tag === 0) return;
  if (tag === 1) {
    slice.skip(slice.uint(9));
    return;
  }
  if (slice.bit()) slice.skip(readAnycastDepth(slice));
  if (tag === 2) slice.skip(8 + 256);
  else slice.skip(slice.uint(9) + 32);
}

/** `anycast_info$_ depth:(#<= 30) { depth >= 1 } rewrite_pfx:(bits depth) = Anycast`. */
function readAnycast(slice: CellSlice): Anycast {
  const depth = readAnycastDepth(slice);
  return { depth, prefix: slice.bits(depth) };
}

function readAnycastDepth(slice: CellSlice): number {
  const depth = slice.uint(5);
  if (depth < 1 || depth > 30) {
    throw new DecodeError('bad_value', 'An anycast prefix has a wrong length.', {
      cell: slice.cell,
      found: depth,
      limit: 30,
    });
  }
  return depth;
}

/** Reads `MsgAddressInt` like `readMessageAddress`, but only an account. Throws DecodeError `bad_tag`. */
export function readInternalAddress(slice: CellSlice): InternalAddress {
  const address = readMessageAddress(slice);
  if (address?.kind !== 'internal') throw noAccount(slice);
  return address;
}

/** Skips an account's address, like `skipMessageAddress`. Throws DecodeError `bad_tag`. */
export function skipInternalAddress(slice: CellSlice): void {
  if (slice.peekUint(2) < 2) throw noAccount(slice);
  skipMessageAddress(slice);
}

function noAccount({ cell }: CellSlice): DecodeError {
  return new DecodeError('bad_tag', 'The address is no account.', { cell, type: 'MsgAddressInt' });
}

/** `addr_std$10` without anycast; the id has 32 bytes. */
export function writeStandardAddress(
  writer: BitWriter,
  { workchain, id }: { readonly workchain: number; readonly id: Buffer },
): BitWriter {
  return writer.uint(0b100, 3).int(workchain, 8).bytes(id);
}
