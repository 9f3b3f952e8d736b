/**
 * Columns of an action, under the names that clients of v3 use: `action-details` selects these columns by type.
 * Nanotons and token amounts are bigints, addresses raw text; absent and null are the same.
 */
export type ActionColumns = {
  readonly source?: string | null;
  readonly sourceSecondary?: string | null;
  readonly destination?: string | null;
  readonly destinationSecondary?: string | null;
  readonly asset?: string | null;
  readonly assetSecondary?: string | null;
  readonly asset2?: string | null;
  readonly asset2Secondary?: string | null;
  /** Unsigned, 32 bits. */
  readonly opcode?: number | null;
  readonly value?: bigint | null;
  readonly amount?: bigint | null;
  readonly extraCurrencies?: Readonly<Record<string, string>>;
  /** Further values of one type, under the name of their group, as `jetton_swap_data`. */
  readonly data?: ActionData;
};

/** Columns that name accounts. */
export const accountColumns = [
  'source',
  'sourceSecondary',
  'destination',
  'destinationSecondary',
  'asset',
  'assetSecondary',
  'asset2',
  'asset2Secondary',
] as const satisfies readonly (keyof ActionColumns)[];

/** Groups of values; bigints are shown as decimal text. */
export type ActionData = Readonly<Record<string, DataValue>>;

export type DataValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly DataValue[]
  | { readonly [name: string]: DataValue };

/** Account that a message names; null when empty. Patterns have empty accounts where an operation began outside or ended in a log. */
export function named(account: string | null): string | null {
  return account === '' ? null : account;
}
