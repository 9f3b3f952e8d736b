import { fitsFriendly, parseAddress } from '#service/decode/address.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { AccountLabel } from '#service/v3/annotations/account-label-cache.ts';
import { writeBook, type AddressBook } from '#service/v3/annotations/address-book.ts';
import type { AnswerAnnotations, Notes } from '#service/v3/annotations/answer-annotations.ts';
import { emptyMetadata } from '#service/v3/annotations/metadata.ts';
import { relabel, type SimulatedLabels } from '#service/v3/annotations/simulated-labels.ts';
import type { V3Request } from '#service/v3/request/operation.ts';
import { viewAddressBookRow } from '#service/v3/views/address-book-row.ts';

/** Index that knows names and tokens. */
export type EmulateIndex = {
  readonly readerOf: (request: V3Request) => StoreReader;
  readonly notes: Pick<AnswerAnnotations, 'notesOf'>;
};

/** Parts of an answer that its caller asks for. */
export type AnnotationsAsked = { readonly addressBook: boolean; readonly metadata: boolean };

/** Annotations of an answer. A part that the caller does not ask for is missing. */
export type Annotations = Partial<Notes>;

/** Annotations of accounts from the index. Rejects as the index does. */
export async function annotateFromIndex(
  { readerOf, notes }: EmulateIndex,
  { addresses, labels, asked }: AnnotatedAccounts,
  context: V3Request,
): Promise<Annotations> {
  const settings = { ...context.settings, ...asked };
  const found = await notes.notesOf(addresses, { store: readerOf(context), settings }, labels);
  return {
    ...(asked.addressBook && { address_book: found.address_book }),
    ...(asked.metadata && { metadata: found.metadata }),
  };
}

export type AnnotatedAccounts = {
  /** Raw addresses of the answer; null is ignored. */
  readonly addresses: Iterable<string | null>;
  readonly labels: SimulatedLabels;
  readonly asked: AnnotationsAsked;
};

/** Annotations of accounts without an index: friendly addresses, interfaces of the trace's own accounts, and no metadata. */
export async function annotateWithoutIndex(
  { addresses, labels, asked }: AnnotatedAccounts,
  signal: AbortSignal,
): Promise<Annotations> {
  return {
    ...(asked.addressBook && { address_book: await writeFriendly(addresses, labels, signal) }),
    ...(asked.metadata && { metadata: emptyMetadata }),
  };
}

const unnamed = { codeHash: null, domain: null, interfaces: [] };

function writeFriendly(
  addresses: Iterable<string | null>,
  simulated: SimulatedLabels,
  signal: AbortSignal,
): Promise<AddressBook> {
  const labels = new Map<string, AccountLabel | undefined>();
  for (const text of addresses) {
    if (text === null || labels.has(text)) continue;
    const address = parseAddress(text);
    const row =
      address !== undefined && fitsFriendly(address)
        ? JSON.stringify(viewAddressBookRow(address, unnamed, simulated))
        : undefined;
    labels.set(text, row === undefined ? undefined : { row, isToken: false });
  }
  return writeBook(relabel(labels, simulated), { signal });
}
