import type { RecordedTrace } from './recorded-traces.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a recorded row says of itself. */
type Read = (row: Fields) => unknown;

const column =
  (name: string): Read =>
  (row) =>
    row[name] ?? null;

/** One for each jetton that is staked. */
const mintedStake: Read = (row) => (row['success'] === true ? row['amount'] : null);

const ofLiquidStaking: Read = (row) =>
  (row['staking_data'] as Fields | undefined)?.['provider'] === 'liquid_staking' ? row['amount'] : null;

/** Fields that TON Center leaves out and we fill (service/v3/README.md#details-of-actions), by type and field of details. */
const filledDetails: readonly (readonly [type: string, field: string, value: Read])[] = [
  ['coffee_create_pool', 'pool_creator_contract', column('destination_secondary')],
  ['coffee_create_pool_creator', 'provided_asset', column('asset')],
  ['evaa_supply', 'sender_jetton_wallet', column('source_secondary')],
  ['jvault_stake', 'minted_stake_jettons', mintedStake],
  // Other stakings have no such field.
  ['stake_withdrawal_request', 'tokens_burnt', ofLiquidStaking],
];

/** The same of rows, where a row has no other place for it. */
const filledRows: readonly (readonly [type: string, group: string, field: string, value: Read])[] = [
  ['jvault_stake', 'jvault_stake_data', 'minted_stake_jettons', mintedStake],
];

/** A row as it was recorded, with what the peer leaves out. */
export function filledRow(row: Fields): Fields {
  const groups = filledRows
    .filter(([type]) => type === row['type'])
    .map(([, group, field, value]) => [group, { ...(row[group] as Fields), [field]: value(row) }]);
  return { ...row, ...Object.fromEntries(groups) };
}

/** The actions of a recorded trace as v3 shows them, with the peer's defects put right; sets in one order. */
export function expectedActions({ expected }: RecordedTrace): readonly Fields[] {
  const rows = new Map(expected.action_rows.map((row) => [row['action_id'] as string, row]));
  return expected.api_actions.map((one) => inOrder(correct(one, rows.get(one['action_id'] as string)!)));
}

function correct(action: Fields, row: Fields): Fields {
  const details = { ...(action['details'] as Fields) };
  for (const [type, field, value] of filledDetails) {
    if (action['type'] === type && details[field] === null) details[field] = value(row);
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
