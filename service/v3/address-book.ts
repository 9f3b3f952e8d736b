import { writeEntries, Written } from '../contract/paced.ts';
import { list, map, named, object, type Infer, type Shape } from '../contract/shape.ts';
import { formatFriendlyAddress, parseAddress, type ParsedAddress } from '../decode/address.ts';
import { isWalletCode } from '../live/wallets.ts';
import { accountKey } from '../store/account-key.ts';
import { hashKey } from '../store/hash-key.ts';
import { readAccountNames, type AccountNameRow } from '../store/queries/accounts.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { createCodeInterfaces } from './code-interfaces.ts';
import { defineV3Operation, type V3Context, type V3Operation } from './operation.ts';
import { texts } from './parameters.ts';
import { requiredList } from './required-parameters.ts';
import { anyText, orNull, viewBytesOrNull } from './scalars.ts';

const row = named(
  'AddressBookRow',
  object({ user_friendly: orNull(anyText), domain: orNull(anyText), interfaces: orNull(list(anyText)) }),
);

type AddressBookRow = Infer<typeof row>;

/** What is known of some accounts, by address (v3 sheet 5.1). */
export type AddressBook = Written<Record<string, AddressBookRow>>;

const { schema, definitions } = named('AddressBook', map(row));

export const addressBook: Shape<AddressBook> = { schema, definitions };

/** Address books for answers. */
export type AddressBooks = {
  /**
   * The book of an answer; empty when the caller wants none.
   * @param addresses raw addresses as the answer shows them, `addr_none` and its like too; null and what is named twice do not matter
   */
  bookOf(addresses: Iterable<string | null>, context: Pick<V3Context, 'store' | 'settings'>): Promise<AddressBook>;
  readonly operations: readonly V3Operation[];
};

/** Accounts looked up at once and shown at once: a millisecond or two of work, between which other requests run. */
const ACCOUNTS_AT_ONCE = 500;

/** Connections that look up accounts of one answer. */
const LINES = 2;

/** @param options.testOnly friendly addresses are those of a test network */
export function createAddressBooks({ testOnly }: { readonly testOnly: boolean }): AddressBooks {
  const codes = createCodeInterfaces();

  const viewRow = (address: ParsedAddress, known: AccountNameRow, interfaces: readonly string[]): AddressBookRow => {
    const codeHash = viewBytesOrNull(known.code_hash);
    // Who sends to an account without code, or to a wallet, does not want the money back when it cannot be taken.
    const bounceable = codeHash !== null && !isWalletCode(codeHash);
    return {
      user_friendly: formatFriendlyAddress(address, { bounceable, testOnly }),
      domain: known.domain,
      interfaces,
    };
  };

  async function readPart(
    spelled: readonly string[],
    unreadable: AddressBookRow,
    store: StoreReader,
  ): Promise<AddressBook> {
    const entries = spelled.map((text) => {
      const address = parseAddress(text, { anyTag: true });
      return { text, address: address !== undefined && fitsFriendly(address) ? address : undefined };
    });
    const keys = entries.flatMap(({ address }) => (address === undefined ? [] : [accountKey(address)]));
    const rows = keys.length === 0 ? [] : await readAccountNames(store, keys);
    const interfaces = await codes.of(
      rows.flatMap(({ code_hash: hash }) => hash ?? []),
      store,
    );
    let place = 0;
    const shown = entries.map(({ text, address }): [string, AddressBookRow] => {
      if (address === undefined) return [text, unreadable];
      const known = rows[place++]!;
      return [text, viewRow(address, known, known.code_hash === null ? [] : interfaces.get(hashKey(known.code_hash))!)];
    });
    return writeEntries(shown);
  }

  /** @param unreadable row of what is no address */
  async function read(spelled: Iterable<string>, unreadable: AddressBookRow, store: StoreReader): Promise<AddressBook> {
    const distinct = [...new Set(spelled)];
    const parts = Array.from({ length: Math.ceil(distinct.length / ACCOUNTS_AT_ONCE) }, (_, at) =>
      distinct.slice(at * ACCOUNTS_AT_ONCE, (at + 1) * ACCOUNTS_AT_ONCE),
    );
    const books: AddressBook[] = [];
    for (let at = 0; at < parts.length; at += LINES) {
      books.push(...(await Promise.all(parts.slice(at, at + LINES).map((part) => readPart(part, unreadable, store)))));
    }
    return joinBooks(books);
  }

  return {
    async bookOf(addresses, { store, settings }) {
      if (!settings.addressBook) return joinBooks([]);
      const shown = [...addresses].filter((address) => address !== null);
      return read(shown, { user_friendly: 'addr_none', domain: null, interfaces: [] }, store);
    },
    operations: [
      defineV3Operation({
        name: 'addressBook',
        tag: 'accounts',
        summary: 'Friendly forms, domains and interfaces of accounts, by their addresses as the caller spells them.',
        parameters: { addresses: requiredList(texts('address'), 'at least 1 address required') },
        result: addressBook,
        flat: true,
        handle: ({ addresses }, { store }) =>
          read(addresses, { user_friendly: null, domain: null, interfaces: [] }, store),
      }),
    ],
  };
}

/** One book of several, each with a row at least; an empty one of none. */
function joinBooks(books: readonly AddressBook[]): AddressBook {
  return new Written([`{${books.map(({ parts }) => parts.join('').slice(1, -1)).join(',')}}`]);
}

/** Friendly addresses have 8 bits for the workchain. */
function fitsFriendly({ workchain }: ParsedAddress): boolean {
  return workchain === (workchain << 24) >> 24;
}
