import type { CellSlice, ContractSlice } from '#service/decode/cell-slice.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import type { BocOptions } from '#service/decode/boc-writer.ts';
import { bocText, RawCell, takeRef, type ExoticCell } from '#service/decode/messages/decoded.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import { readMessageAddress } from '#service/decode/tlb/message-address.ts';

/** How one field of a body is read. Throws DecodeError when it is not there. */
export type FieldReader<T> = (slice: ContractSlice) => T;

type Layout = Readonly<Record<string, FieldReader<unknown>>>;
export type ValuesOf<L extends Layout> = { readonly [K in keyof L]: L[K] extends FieldReader<infer T> ? T : never };

/** Fields one after another; what follows the last one is ignored, as indexers do. */
export function fields<const L extends Layout>(layout: L): FieldReader<ValuesOf<L>> {
  const entries = Object.entries(layout);
  return (slice) => {
    const values: Record<string, unknown> = {};
    for (const [name, read] of entries) values[name] = read(slice);
    return values as ValuesOf<L>;
  };
}

/** A body's fields after its opcode of 32 bits. The reader takes a body at its beginning and leaves it there; throws DecodeError. */
export function body<const L extends Layout>(
  layout: L,
): (message: { readonly body: CellSlice | undefined }) => ValuesOf<L> {
  const read = fields(layout);
  return (message) => {
    const slice = openBody(message);
    slice.skip(32);
    return read(slice);
  };
}

/** A reader of a message's body of its own, with a budget of its own where the body has none. Throws DecodeError `exotic_cell` when the body cannot be read. */
export function openBody({ body: slice }: { readonly body: CellSlice | undefined }): ContractSlice {
  if (slice === undefined) throw new DecodeError('exotic_cell', 'The body is no ordinary cell.', { cell: 0 });
  return slice.within(slice.budget ?? new ReadBudget());
}

/** The same without errors: undefined for a body that is no such message. */
export function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

export const bit: FieldReader<boolean> = (slice) => slice.bit();
export const coins: FieldReader<bigint> = (slice) => slice.coins();
export const uint64: FieldReader<bigint> = (slice) => slice.uint64();
export const uint32: FieldReader<number> = (slice) => slice.uint(32);
export const uint256: FieldReader<bigint> = (slice) => slice.uintBig(256);
/** Unsigned, up to 32 bits. */
export const uint =
  (bits: number): FieldReader<number> =>
  (slice) =>
    slice.uint(bits);
/** Signed, 1 to 32 bits. */
export const int =
  (bits: number): FieldReader<number> =>
  (slice) =>
    slice.int(bits);
export const bigUint =
  (bits: number): FieldReader<bigint> =>
  (slice) =>
    slice.uintBig(bits);
/** Raw text with upper-case hex, or `addr_none`, `addr_extern`, `addr_var`. */
export const address: FieldReader<string> = (slice) => addressText(readMessageAddress(slice));
/** An account's raw text; null for every other address. */
export const maybeAddress: FieldReader<string | null> = (slice) => {
  const found = readMessageAddress(slice);
  return found?.kind === 'internal' && !found.variable ? addressText(found) : null;
};
/** The next reference, opened. */
export const ref: FieldReader<ContractSlice> = (slice) => slice.refSlice();
export const maybeRef: FieldReader<ContractSlice | null> = (slice) => (slice.bit() ? slice.refSlice() : null);
/** Cell that contracts forward unopened, of any kind. */
export const maybeCell: FieldReader<RawCell | ExoticCell | null> = (slice) => (slice.bit() ? takeRef(slice) : null);
/** The next reference read as a whole. */
export const inRef =
  <T>(read: FieldReader<T>): FieldReader<T> =>
  (slice) =>
    read(slice.refSlice());
/** Remaining data of the slice, which does not move. */
export const rest: FieldReader<ContractSlice> = (slice) => slice.clone();
/** Jetton payload: the rest in place, or a reference; null when nothing is left. */
export const payload: FieldReader<ContractSlice | null> = (slice) => {
  if (slice.remainingBits === 0) return null;
  if (slice.bit()) return slice.refSlice();
  return slice.remainingBits === 0 && slice.remainingRefs === 0 ? null : slice.clone();
};

const shownBoc: BocOptions = { crc32c: true, depthFirst: true };

/** Base64 of a BoC with CRC-32C for a cell or the rest of a cell. Clients of v3 expect this order of cells. */
export function bocOf(slice: ContractSlice): string {
  return cellBoc(new RawCell(slice.clone()));
}

/** The same of a cell of any kind. */
export function cellBoc(cell: RawCell | ExoticCell): string {
  return bocText(cell, new ReadBudget(), shownBoc);
}

/** Base64 of a BoC without a checksum, the usual form of contracts' orders. */
export function plainBocOf(slice: ContractSlice): string {
  return bocText(new RawCell(slice.clone()), new ReadBudget(), { crc32c: false, depthFirst: true });
}

/** Reads on a clone: the payload stays where it is. */
export function peek<T>(slice: ContractSlice, read: FieldReader<T>): T | undefined {
  return tryRead(() => read(slice.clone()));
}
