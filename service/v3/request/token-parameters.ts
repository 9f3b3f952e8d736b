import { accountKey } from '#service/store/account-key.ts';
import type { Account } from './parameter-values.ts';
import { accounts, cursorPaging, windows, word } from './parameters.ts';

// Parameters that lists of jettons and NFTs share (service/v3/README.md#token-lists).

/** Direction of a transfer from the owner's side. */
const direction = word('direction', ['in', 'out', 'both'], 'direction should be one of: in, out');

/** Parameters of lists of transfers and burns; the owner has an older name too. */
export const transferParameters = {
  owners: accounts('owner_address'),
  legacyOwners: accounts('address'),
  ...windows,
  ...cursorPaging,
};

export const directed = { ...transferParameters, direction };

/** Undefined for `both`, which is no condition. */
export function sideOf(given: 'in' | 'out' | 'both' | undefined): 'in' | 'out' | undefined {
  return given === 'both' ? undefined : given;
}

/** Accounts in the form of query keys. */
export function keysOf(...lists: readonly (readonly Account[])[]): readonly Uint8Array[] {
  return lists.flat().map(accountKey);
}
