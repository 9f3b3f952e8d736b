import { formatRawAddress } from '../decode/address.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import { accountKey } from '../store/account-key.ts';

// Forms of accounts in rows and facts.

/** Returns an address raw, in upper case. */
export function rawOf(account: AccountId): string {
  return formatRawAddress(account, 'upper');
}

export function rawOrNull(account: AccountId | null): string | null {
  return account && rawOf(account);
}

export function keyOrNull(account: AccountId | null): Buffer | null {
  return account && accountKey(account);
}
