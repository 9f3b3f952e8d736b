import { writeTexts, RawJson } from '#service/contract/json-stream.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { map, named, type Shape } from '#service/contract/shape.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { addressBookRow, type AddressBookRow } from '../views/address-book-row.ts';
import type { FoundAccounts, AccountLabelCache } from './account-label-cache.ts';
import { defineV3Operation, type V3Context, type V3Operation } from '../request/operation.ts';
import { texts } from '../request/parameters.ts';
import { requiredList } from '../request/required-parameters.ts';

/** Entries for the accounts of an answer, by address (service/v3/README.md#address-book). */
export type AddressBook = RawJson<Record<string, AddressBookRow>>;

const { schema, definitions } = named('AddressBook', map(addressBookRow));

export const addressBook: Shape<AddressBook> = { schema, definitions };

/** Address books for answers. */
export type AddressBooks = {
  /**
   * Address book of an answer; empty when the caller excludes it.
   * @param addresses raw addresses of the answer, also `addr_none` and the like; null and duplicates are ignored
   */
  bookOf(addresses: Iterable<string | null>, context: Pick<V3Context, 'store' | 'settings'>): Promise<AddressBook>;
  readonly operations: readonly V3Operation[];
};

export type AddressBooksDependencies = {
  readonly accounts: AccountLabelCache;
};

export function createAddressBooks({ accounts }: AddressBooksDependencies): AddressBooks {
  return {
    async bookOf(addresses, { store, settings }) {
      return settings.addressBook ? await writeBook(await accounts.find(addresses, store), store) : emptyBook;
    },
    operations: [
      defineV3Operation({
        name: 'addressBook',
        tag: 'accounts',
        summary: 'Friendly forms, domains and interfaces of accounts, by their addresses as the caller spells them.',
        parameters: { addresses: requiredList(texts('address'), 'at least 1 address required') },
        result: addressBook,
        flat: true,
        handle: async ({ addresses }, { store }) => write(await accounts.find(addresses, store), null, store.signal),
      }),
    ],
  };
}

/** The book of an answer with these accounts. */
export const writeBook = (found: FoundAccounts, { signal }: Pick<StoreReader, 'signal'>): Promise<AddressBook> =>
  write(found, 'addr_none', signal);

export const emptyBook: AddressBook = new RawJson(['{}']);

/** @param none friendly form of a text that is no address */
const write = (found: FoundAccounts, none: string | null, signal: AbortSignal | undefined): Promise<AddressBook> =>
  writeTexts(viewRows(found, none), createTimeSlice(signal));

function* viewRows(found: FoundAccounts, none: string | null): Generator<readonly [text: string, row: string]> {
  const unreadable: AddressBookRow = { user_friendly: none, domain: null, interfaces: [] };
  for (const [text, note] of found) yield [text, note?.row ?? JSON.stringify(unreadable)];
}
