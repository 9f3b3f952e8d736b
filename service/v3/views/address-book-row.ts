import { list, named, object, type Infer } from '#service/contract/shape.ts';
import { formatFriendlyAddress, type ParsedAddress } from '#service/decode/address.ts';
import { knownWallet } from '#service/decode/known-codes.ts';
import { anyText, orNull, viewBytesOrNull } from '../request/scalars.ts';

export const addressBookRow = named(
  'AddressBookRow',
  object({ user_friendly: orNull(anyText), domain: orNull(anyText), interfaces: orNull(list(anyText)) }),
);

/** Entry of an address book for an account (service/v3/README.md#address-book). */
export type AddressBookRow = Infer<typeof addressBookRow>;

/** Data of an account for its friendly address and name. */
export type Named = {
  /** Null for an account without code, and for an unknown account. */
  readonly codeHash: Uint8Array | null;
  readonly domain: string | null;
  readonly interfaces: readonly string[];
};

/**
 * @param address in a workchain of 8 bits
 * @param network network of the friendly forms
 */
export function viewAddressBookRow(
  address: ParsedAddress,
  { codeHash, domain, interfaces }: Named,
  { testOnly }: { readonly testOnly: boolean },
): AddressBookRow {
  const code = viewBytesOrNull(codeHash);
  // Senders to an account without code, or to a wallet, do not want a bounce of a refused transfer.
  const bounceable = code !== null && knownWallet(code) === undefined;
  return { user_friendly: formatFriendlyAddress(address, { bounceable, testOnly }), domain, interfaces };
}
