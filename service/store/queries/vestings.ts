import { vestingContracts, type VestingContractRow } from '../classification-tables.ts';
import { columnsOf, createConditions, limitOfEach, pageOf, type Conditions, type Page } from './conditions.ts';
import { seenOrder, withId, type Placed } from './first-seen.ts';
import { addAfter, orderBy, type After } from './order.ts';
import type { StoreReader } from './reader.ts';

/** Filter of vesting contracts: by address or, without addresses, by wallets. Accounts are keys. */
export type VestingFilter = {
  readonly addresses: readonly Uint8Array[];
  /** Senders or owners: any of them. */
  readonly wallets: readonly Uint8Array[];
  /** True if the wallets may be in the whitelist instead. */
  readonly inWhitelist: boolean;
};

const order = seenOrder('asc');

/** Vesting contracts as they were first seen. */
export function findVestings(
  store: StoreReader,
  { addresses, wallets, inWhitelist }: VestingFilter,
  page: Page & After,
): Promise<readonly Placed<VestingContractRow>[]> {
  const conditions = createConditions();
  if (addresses.length === 0) {
    const source = placesOf(wallets, inWhitelist, page, conditions);
    return store.read(
      `SELECT ${columnsOf(vestingContracts, 'v')}, v.id FROM (${source}) p JOIN ${vestingContracts.name} v USING (id) ${orderBy(order, 'v')}`,
      conditions.values,
    );
  }
  conditions.when(addresses, (at) => `v.address = ANY(${at}::bytea[])`);
  addAfter(conditions, order, 'v', page.after);
  return store.read(
    `SELECT ${columnsOf(vestingContracts, 'v')}, v.id FROM ${withId(vestingContracts, 'v')} ${conditions.where()} ${orderBy(order, 'v')} ${pageOf(page)}`,
    conditions.values,
  );
}

/** A page of `id`s of the vestings of wallets. No list of a wallet is read further than the page goes. */
function placesOf(
  wallets: readonly Uint8Array[],
  inWhitelist: boolean,
  page: Page & After,
  conditions: Conditions,
): string {
  const keys = `${conditions.place(wallets)}::bytea[]`;
  addAfter(conditions, order, 'e', page.after);
  const first = `${orderBy(order, 'e')} ${limitOfEach(page)}`;
  const listOf = (table: string, column: string): string => {
    const list = `SELECT e.id FROM ${table} e ${conditions.where(`e.${column} = w.key`)} ${first}`;
    return `SELECT list.id FROM unnest(${keys}) w(key) CROSS JOIN LATERAL (${list}) list`;
  };
  const own = ['sender', 'owner'].map((column) => listOf(vestingContracts.name, column));
  const lists = inWhitelist ? [...own, listOf('vesting_whitelisted', 'member')] : own;
  return `SELECT e.id FROM (${lists.map((list) => `(${list})`).join(' UNION ')}) e ${orderBy(order, 'e')} ${pageOf(page)}`;
}
