import * as fc from 'fast-check';

import type { Page } from '#service/store/queries/conditions.ts';
import type { SortedPage } from '#service/store/queries/transactions.ts';
import type { TransferWindow } from '#service/store/queries/transfers.ts';
import { keyOf } from '#test/support/token-rows.ts';

// What lists of made rows must be, said without a database.

/** None, one or some keys of a kind, one of which nothing has, some of them twice. */
export function fewOf(kind: string, count: number): fc.Arbitrary<readonly Buffer[]> {
  return fc.array(
    fc.integer({ min: 0, max: count - 1 }).map((at) => keyOf(kind, at)),
    { maxLength: 3 },
  );
}

export const page = fc.record({ limit: fc.constantFrom(1, 3, 100), offset: fc.constantFrom(0, 0, 1, 20) });

export const sortedPage = fc.record({
  limit: fc.constantFrom(1, 3, 100),
  offset: fc.constantFrom(0, 0, 1, 20),
  sort: fc.constantFrom('asc' as const, 'desc' as const),
});

/** Bounds around the times and lts of made transactions, each there half the time. */
export const window: fc.Arbitrary<TransferWindow> = fc.record({
  startUtime: sometimes(fc.integer({ min: 1_700_000_000 - 5, max: 1_700_000_040 })),
  endUtime: sometimes(fc.integer({ min: 1_700_000_020, max: 1_700_000_080 })),
  startLt: sometimes(fc.bigInt({ min: 1_999_990n, max: 2_000_900n })),
  endLt: sometimes(fc.bigInt({ min: 2_000_500n, max: 2_002_500n })),
});

function sometimes<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { freq: 2, nil: undefined });
}

/** Empty lists let everything through. */
export function among(keys: readonly Uint8Array[], key: Uint8Array | null): boolean {
  return keys.length === 0 || (key !== null && keys.some((one) => Buffer.compare(one, key) === 0));
}

export function cut<T>(rows: readonly T[], { limit, offset }: Page): readonly T[] {
  return rows.slice(offset, offset + limit);
}

export function addressesOf(rows: readonly { readonly address: Uint8Array }[]): string[] {
  return rows.map(({ address }) => Buffer.from(address).toString('hex'));
}

export function transactionsOf(rows: readonly { readonly tx_hash: Uint8Array }[]): string[] {
  return rows.map(({ tx_hash: hash }) => Buffer.from(hash).toString('hex'));
}

type SortKey = Uint8Array | bigint | null;

/** Orders by keys, one after the other; null is behind all. */
export function compareKeys<T>(keys: (row: T) => readonly SortKey[]): (a: T, b: T) => number {
  return (a, b) => {
    const others = keys(b);
    return keys(a).reduce<number>((found, key, at) => found || compareOne(key, others[at]!), 0);
  };
}

function compareOne(a: SortKey, b: SortKey): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'bigint' && typeof b === 'bigint') return a === b ? 0 : a < b ? -1 : 1;
  return Buffer.compare(a as Uint8Array, b as Uint8Array);
}

type Placed = { readonly tx_hash: Uint8Array; readonly tx_lt: bigint; readonly tx_utime: number };

export function inWindow(bounds: TransferWindow, { tx_lt: lt, tx_utime: utime }: Placed): boolean {
  const { startUtime = 0, endUtime = Infinity, startLt = 0n, endLt = lt } = bounds;
  return utime >= startUtime && utime <= endUtime && lt >= startLt && lt <= endLt;
}

/** By lt, with a window of time by time before; equals by transaction (service/v3/README.md#order). */
export function transferOrder<T extends Placed>(
  rows: readonly T[],
  { startUtime, endUtime }: TransferWindow,
  { sort }: SortedPage,
): readonly T[] {
  const byTime = startUtime !== undefined || endUtime !== undefined;
  const turn = sort === 'asc' ? 1 : -1;
  const compare = compareKeys<T>((row) => [byTime ? BigInt(row.tx_utime) : 0n, row.tx_lt, row.tx_hash]);
  return rows.toSorted((a, b) => turn * compare(a, b));
}
