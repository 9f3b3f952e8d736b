import { list, named, object, type Infer } from '../contract/shape.ts';
import { formatFriendlyAddress, type ParsedAddress } from '../decode/address.ts';
import { isWalletCode } from '../live/wallets.ts';
import { anyText, orNull, viewBytesOrNull } from './scalars.ts';

export const addressBookRow = named(
  'AddressBookRow',
  object({ user_friendly: orNull(anyText), domain: orNull(anyText), interfaces: orNull(list(anyText)) }),
);

/** What address books tell of one account (service/v3/README.md#address-book). */
export type AddressBookRow = Infer<typeof addressBookRow>;

/** What an account is called by. */
export type Named = {
  /** Null for an account without code, and for one that is not known. */
  readonly codeHash: Uint8Array | null;
  readonly domain: string | null;
  readonly interfaces: readonly string[];
};

/**
 * @param address of a workchain of 8 bits
 * @param network whose friendly forms are wanted
 */
export function viewAddressBookRow(
  address: ParsedAddress,
  { codeHash, domain, interfaces }: Named,
  { testOnly }: { readonly testOnly: boolean },
): AddressBookRow {
  const code = viewBytesOrNull(codeHash);
  // Who sends to an account without code, or to a wallet, does not want the money back when it cannot be taken.
  const bounceable = code !== null && !isWalletCode(code);
  return { user_friendly: formatFriendlyAddress(address, { bounceable, testOnly }), domain, interfaces };
}

/** Friendly addresses have 8 bits for the workchain. */
export function fitsFriendly({ workchain }: ParsedAddress): boolean {
  return workchain === (workchain << 24) >> 24;
}
