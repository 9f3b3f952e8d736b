import type { AccountKey, TraceSnapshot } from '../changes.ts';

/** Parts of a trace that some accounts match: ordinals in the lists of the snapshot, ascending. */
export type Selection = {
  /** Names the selection within its snapshot. */
  readonly name: string;
  readonly transactions: readonly number[];
  readonly actions: readonly number[];
};

/** Accounts of a trace, and what belongs to each. */
export type TraceAccounts = {
  /** Distinct accounts of the transactions and actions. */
  readonly accounts: readonly AccountKey[];
  /** Equal ordinals have the same selection. @param ordinals of accounts in `accounts`, ascending */
  readonly select: (ordinals: readonly number[]) => Selection;
};

type OfAccount = { readonly transactions: number[]; readonly actions: number[] };

export function accountsOf({ transactions, actions }: TraceSnapshot): TraceAccounts {
  const byAccount = new Map<AccountKey, OfAccount>();
  const of = (account: AccountKey): OfAccount => {
    const there = byAccount.get(account) ?? { transactions: [], actions: [] };
    byAccount.set(account, there);
    return there;
  };
  transactions.forEach(({ account }, at) => of(account).transactions.push(at));
  actions.forEach(({ accounts }, at) => accounts.forEach((account) => of(account).actions.push(at)));
  const parts = [...byAccount.values()];
  // Many connections match by the same accounts, and most by one.
  const selections = new Map<string | number, Selection>();
  return {
    accounts: [...byAccount.keys()],
    select(ordinals) {
      const name = ordinals.length === 1 ? ordinals[0]! : ordinals.join();
      const known = selections.get(name);
      if (known !== undefined) return known;
      const selection = {
        name: String(name),
        transactions: distinct(ordinals.flatMap((at) => parts[at]!.transactions)),
        actions: distinct(ordinals.flatMap((at) => parts[at]!.actions)),
      };
      selections.set(name, selection);
      return selection;
    },
  };
}

function distinct(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}
