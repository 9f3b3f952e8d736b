import type { Infer } from '#service/contract/shape.ts';
import { addressBook, emptyBook, writeBook, type AddressBooks } from './address-book.ts';
import type { AccountLabelCache } from './account-label-cache.ts';
import { relabel, type SimulatedLabels } from './simulated-labels.ts';
import { emptyMetadata, metadata, type BegunTokens, type NotesContext, type TokenMetadata } from './metadata.ts';

/** Data about the accounts of an answer besides its own fields (service/v3/README.md#address-book), as parts of its shape. */
export const answerAnnotations = { address_book: addressBook, metadata };

export type Notes = { readonly [name in keyof typeof answerAnnotations]: Infer<(typeof answerAnnotations)[name]> };

/** Notes for answers with metadata, and books for answers without. */
export type AnswerAnnotations = Pick<AddressBooks, 'bookOf'> & {
  /**
   * Both notes of an answer, to be spread into it.
   * @param addresses raw addresses of the answer; null is ignored
   * @param simulated accounts as a simulation leaves them, which the index does not have
   */
  notesOf(addresses: Iterable<string | null>, context: NotesContext, simulated?: SimulatedLabels): Promise<Notes>;
};

export type AnswerAnnotationsDependencies = Pick<AddressBooks, 'bookOf'> &
  Pick<TokenMetadata, 'metadataOf' | 'begin'> & { readonly accounts: AccountLabelCache };

export function createAnswerAnnotations({
  accounts,
  bookOf,
  metadataOf,
  begin,
}: AnswerAnnotationsDependencies): AnswerAnnotations {
  return {
    bookOf,
    async notesOf(addresses, context, simulated) {
      const { settings, store } = context;
      if (!settings.addressBook && !settings.metadata) return { address_book: emptyBook, metadata: emptyMetadata };
      let begun: BegunTokens | undefined;
      const found = await accounts.find(addresses, store, (tokens) => (begun = begin(tokens, context)));
      const labels = simulated === undefined ? found : relabel(found, simulated);
      return {
        address_book: settings.addressBook ? await writeBook(labels, store) : emptyBook,
        metadata: await metadataOf(found, context, { begun, simulated: simulated?.tokens }),
      };
    },
  };
}
