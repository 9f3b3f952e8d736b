import { vestingContracts, type VestingContractRow } from '../meaning-tables.ts';
import { columnsOf, createConditions, firstSeen, pageOf, type Page } from './conditions.ts';
import type { StoreReader } from './reader.ts';

/** What vesting contracts must be; all of it. Empty lists ask for nothing. Accounts are keys. */
export type VestingFilter = {
  readonly addresses: readonly Uint8Array[];
  /** Senders or owners: any of them. */
  readonly wallets: readonly Uint8Array[];
  /** The wallets may stand in the whitelist instead. */
  readonly inWhitelist: boolean;
};

/** Vesting contracts: those that were asked for by address by that, others as they were first seen. */
export function findVestings(
  store: StoreReader,
  { addresses, wallets, inWhitelist }: VestingFilter,
  page: Page,
): Promise<readonly VestingContractRow[]> {
  const conditions = createConditions();
  if (addresses.length > 0) conditions.when(addresses, (at) => `v.address = ANY(${at}::bytea[])`);
  if (wallets.length > 0) {
    conditions.when(wallets, (at) => {
      const named = `v.sender = ANY(${at}::bytea[]) OR v.owner = ANY(${at}::bytea[])`;
      return inWhitelist ? `(${named} OR v.whitelist && ${at}::bytea[])` : `(${named})`;
    });
  }
  const order = addresses.length > 0 ? 'v.address' : firstSeen('v');
  return store.read(
    `SELECT ${columnsOf(vestingContracts, 'v')} FROM vesting_contracts v ${conditions.where()} ORDER BY ${order} ${pageOf(page)}`,
    conditions.values,
  );
}
