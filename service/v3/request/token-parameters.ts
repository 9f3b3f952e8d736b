import { accountKey } from '#service/store/account-key.ts';
import type { Account } from './parameter-values.ts';
import { accounts, cursorPaging, windows, word } from './parameters.ts';

// Parameters that lists of jettons and NFTs share (service/v3/README.md#token-lists).

/** Direction of a transfer from the owner's side. */
const direction = word('direction', ['in', 'out', 'both'], 'direction should be one of: in, out');

/** Parameters of lists of transfers and burns. The older name of the owner applies without the new one (`ownersOf`). */
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

type GivenOwners = Readonly<Record<'owners' | 'legacyOwners', readonly Account[]>>;

/** Owners of `transferParameters`, in the form of query keys. */
export function ownersOf({ owners, legacyOwners }: GivenOwners): readonly Uint8Array[] {
  return keysOf(owners.length > 0 ? owners : legacyOwners);
}

/** Accounts in the form of query keys. */
export function keysOf(given: readonly Account[]): readonly Uint8Array[] {
  return given.map(accountKey);
}
