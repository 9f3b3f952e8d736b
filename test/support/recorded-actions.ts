import type { RecordedTrace } from './recorded-traces.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What the peer leaves out and is filled in here (v3 sheet section 16), by type and field: the column of its own row that has it. */
const putRight: readonly (readonly [type: string, field: string, column: string, provider?: string])[] = [
  ['coffee_create_pool', 'pool_creator_contract', 'destination_secondary'],
  ['coffee_create_pool_creator', 'provided_asset', 'asset'],
  ['evaa_supply', 'sender_jetton_wallet', 'source_secondary'],
  // Of other stakings the peer tells nothing, and rightly so.
  ['stake_withdrawal_request', 'tokens_burnt', 'amount', 'liquid_staking'],
];

/** The actions of a recorded trace as v3 shows them, with the peer's defects put right; sets in one order. */
export function expectedActions({ expected }: RecordedTrace): readonly Fields[] {
  const rows = new Map(expected.action_rows.map((row) => [row['action_id'] as string, row]));
  return expected.api_actions.map((one) => inOrder(correct(one, rows.get(one['action_id'] as string)!)));
}

function correct(action: Fields, row: Fields): Fields {
  const details = { ...(action['details'] as Fields) };
  for (const [type, field, column, provider] of putRight) {
    const isOther = provider !== undefined && details['provider'] !== provider;
    if (action['type'] === type && details[field] === null && !isOther) details[field] = row[column] ?? null;
  }
  return { ...action, details };
}

/** Sets in one order: of an action its transactions, of a deposit what the vaults gave back. */
export function inOrder(action: Fields): Fields {
  const details = action['details'] as Fields;
  const excesses = details['vault_excesses'] as readonly unknown[] | undefined;
  const textOf = (one: unknown): string => JSON.stringify(one, Object.keys(one as Fields).toSorted());
  return {
    ...action,
    transactions: (action['transactions'] as string[]).toSorted(),
    details: { ...details, ...(excesses && { vault_excesses: excesses.map(textOf).toSorted() }) },
  };
}

/** What a wallet was asked for and did not do. The rule by which that gets its id is not known. */
export function isGhost({ trace: { transactions } }: RecordedTrace): boolean {
  return transactions.length === 1 && transactions[0]!.inMessage?.source === null;
}
