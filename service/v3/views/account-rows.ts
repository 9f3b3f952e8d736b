import { ACCOUNT_STATUSES, type AccountStatus } from '#service/decode/tlb/account-status.ts';
import { accountKey } from '#service/store/account-key.ts';
import { readAccounts, type AccountFilter, type AccountRow } from '#service/store/queries/accounts.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { AccountStateRow } from '#service/store/tables.ts';
import type { Account } from '../request/parameter-values.ts';
import { LIMIT_MAX } from '../request/parameters.ts';

/** Indexed accounts of a request, in the order of the request, each once; a page at most (service/v3/README.md#account-states). */
export async function readRequested(
  store: StoreReader,
  accounts: readonly Account[],
  filter: Omit<AccountFilter, 'accounts'>,
): Promise<readonly AccountRow[]> {
  const keys = new Map(accounts.map((account) => [keyText(accountKey(account)), accountKey(account)]));
  const rows = await readAccounts(store, { ...filter, accounts: [...keys.values()] });
  const byKey = new Map(rows.map((row) => [keyText(row.account), row]));
  return [...keys.keys()].flatMap((key) => byKey.get(key) ?? []).slice(0, LIMIT_MAX);
}

/** A stored key as the key of a map. */
export function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}

/** A stored status by its name. */
export function viewStatus(status: number): AccountStatus {
  return ACCOUNT_STATUSES[status] ?? 'nonexist';
}

/** True for an account with extra currencies of unknown amounts: blocks show only changed amounts. */
export function hidesCurrencies({ extra_currencies: stored }: Pick<AccountStateRow, 'extra_currencies'>): boolean {
  return stored !== null && Object.keys(stored).length === 0;
}

/** Extra currencies of a stored state: empty without any, null if unknown. */
export function viewCurrencies(state: Pick<AccountStateRow, 'extra_currencies'>): AccountStateRow['extra_currencies'] {
  return hidesCurrencies(state) ? null : (state.extra_currencies ?? {});
}
