import type { Infer } from '../contract/shape.ts';
import { addressBook, emptyBook, writeBook, type AddressBooks } from './address-book.ts';
import type { KnownAccounts } from './known-accounts.ts';
import { emptyMetadata, metadata, type BegunTokens, type NotesContext, type TokenMetadata } from './metadata.ts';

/** Data about the accounts of an answer besides its own fields (service/v3/README.md#address-book), as parts of its shape. */
export const accountNotes = { address_book: addressBook, metadata };

type Notes = { readonly [name in keyof typeof accountNotes]: Infer<(typeof accountNotes)[name]> };

/** Notes for answers with metadata, and books for answers without. */
export type AccountNotes = Pick<AddressBooks, 'bookOf'> & {
  /** Both notes of an answer, to be spread into it. @param addresses raw addresses of the answer; null is ignored */
  notesOf(addresses: Iterable<string | null>, context: NotesContext): Promise<Notes>;
};

export type AccountNotesDependencies = Pick<AddressBooks, 'bookOf'> &
  Pick<TokenMetadata, 'metadataOf' | 'begin'> & { readonly accounts: KnownAccounts };

export function createAccountNotes({ accounts, bookOf, metadataOf, begin }: AccountNotesDependencies): AccountNotes {
  return {
    bookOf,
    async notesOf(addresses, context) {
      const { settings, store } = context;
      if (!settings.addressBook && !settings.metadata) return { address_book: emptyBook, metadata: emptyMetadata };
      let begun: BegunTokens | undefined;
      const found = await accounts.find(addresses, store, (tokens) => (begun = begin(tokens, context)));
      return {
        address_book: settings.addressBook ? await writeBook(found, store) : emptyBook,
        metadata: await metadataOf(found, context, begun),
      };
    },
  };
}
