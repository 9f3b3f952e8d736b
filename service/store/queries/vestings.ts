import { vestingContracts, type VestingContractRow } from '../meaning-tables.ts';
import { columnsOf, createConditions, pageOf, type Page } from './conditions.ts';
import { contractsOrder, withId, type Placed } from './first-seen.ts';
import { addAfter, orderBy, type After } from './order.ts';
import type { StoreReader } from './reader.ts';

/** What vesting contracts must be; all of it. Empty lists ask for nothing. Accounts are keys. */
export type VestingFilter = {
  readonly addresses: readonly Uint8Array[];
  /** Senders or owners: any of them. */
  readonly wallets: readonly Uint8Array[];
  /** The wallets may stand in the whitelist instead. */
  readonly inWhitelist: boolean;
};

/** Vesting contracts in the order of `contractsOrder`, ascending. */
export function findVestings(
  store: StoreReader,
  { addresses, wallets, inWhitelist }: VestingFilter,
  page: Page & After,
): Promise<readonly Placed<VestingContractRow>[]> {
  const conditions = createConditions();
  if (addresses.length > 0) conditions.when(addresses, (at) => `v.address = ANY(${at}::bytea[])`);
  if (wallets.length > 0) {
    conditions.when(wallets, (at) => {
      const named = `v.sender = ANY(${at}::bytea[]) OR v.owner = ANY(${at}::bytea[])`;
      return inWhitelist ? `(${named} OR v.whitelist && ${at}::bytea[])` : `(${named})`;
    });
  }
  const order = contractsOrder(addresses, 'asc');
  addAfter(conditions, order, 'v', page.after);
  return store.read(
    `SELECT ${columnsOf(vestingContracts, 'v')}, v.id FROM ${withId(vestingContracts, 'v')} ${conditions.where()} ${orderBy(order, 'v')} ${pageOf(page)}`,
    conditions.values,
  );
}
