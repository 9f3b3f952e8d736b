import type { AccountId } from '../live/accounts/accounts.ts';
import { asAddress } from '../live/tokens/token-contract.ts';
import type { StackCell, StackEntry } from '../tvm/stack.ts';

/** Reads the value of an entry; undefined when its type or kind is wrong. */
export type EntryReader<T> = (entry: StackEntry) => T | undefined;

type Values<R> = { readonly [K in keyof R]: R[K] extends EntryReader<infer T> ? T : never };

/** Reads a result into named values; undefined when it is missing or does not fit. */
export type StackReader<T> = (stack: readonly StackEntry[] | undefined) => T | undefined;

/**
 * Creates a reader of the entries of a get-method's result, bottom first. More entries may follow on top, because contracts grow
 * (service/interfaces/README.md#kinds-of-contracts).
 * @param readers in the order of the entries
 */
export function stackShape<const R extends Readonly<Record<string, EntryReader<unknown>>>>(
  readers: R,
): StackReader<Values<R>> {
  const fields = Object.entries(readers);
  return (stack) => {
    if (stack === undefined || stack.length < fields.length) return undefined;
    const values = fields.map(([name, read], index) => [name, read(stack[index]!)] as const);
    if (values.some(([, value]) => value === undefined)) return undefined;
    return Object.fromEntries(values) as Values<R>;
  };
}

export const int: EntryReader<bigint> = (entry) => (entry.type === 'int' ? entry.value : undefined);

/** Boolean: any number but 0 is true. */
export const flag: EntryReader<boolean> = (entry) => (entry.type === 'int' ? entry.value !== 0n : undefined);

function between(least: bigint, most: bigint): EntryReader<bigint> {
  return (entry) => (entry.type === 'int' && entry.value >= least && entry.value <= most ? entry.value : undefined);
}

function numberWithin(read: EntryReader<bigint>): EntryReader<number> {
  return (entry) => {
    const value = read(entry);
    return value === undefined ? undefined : Number(value);
  };
}

/** From 0 to 2^63 - 1. */
export const uint63 = between(0n, (1n << 63n) - 1n);

/** Signed 32 bits. */
export const int32 = numberWithin(between(-(1n << 31n), (1n << 31n) - 1n));

/** Unix seconds, unsigned 32 bits. */
export const utime = numberWithin(between(0n, (1n << 32n) - 1n));

/** A number that JSON holds exactly. */
export const int53 = numberWithin(between(BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER)));

/** An `addr_std`. */
export const account: EntryReader<AccountId> = (entry) => {
  const address = entry.type === 'slice' ? asAddress(entry) : undefined;
  return address === 'none' ? undefined : address;
};

/** Null for `addr_none`. */
export const accountOrNone: EntryReader<AccountId | null> = (entry) => {
  const address = entry.type === 'slice' ? asAddress(entry) : undefined;
  return address === 'none' ? null : address;
};

/** Null for `addr_none` and for a slice of nothing. */
export const accountOrNothing: EntryReader<AccountId | null> = (entry) =>
  entry.type === 'slice' && entry.startBit === entry.endBit ? null : accountOrNone(entry);

export const slice: EntryReader<StackEntry & { readonly type: 'slice' }> = (entry) =>
  entry.type === 'slice' ? entry : undefined;

export const cell: EntryReader<StackCell> = (entry) => (entry.type === 'cell' ? entry : undefined);

export const cellOrNull: EntryReader<StackCell | null> = (entry) => (entry.type === 'null' ? null : cell(entry));

/** Cell, or null for an entry of another type. */
export const anyCell: EntryReader<StackCell | null> = (entry) => (entry.type === 'cell' ? entry : null);
