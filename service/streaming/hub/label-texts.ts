import type { Metadata } from '#service/v3/annotations/metadata.ts';
import type { AccountKey, Labels, Subscription } from '../changes.ts';
import { lineOf } from '../event-text.ts';

/** Address book and metadata of the accounts of one change, as the ends of its events. */
export type LabelTexts = {
  /**
   * Text behind the other fields of an event.
   * @param accounts that the event names, for the book
   * @param described accounts of the metadata; default those of the book
   */
  readonly of: (accounts: Iterable<AccountKey>, wish: LabelWish, described?: Iterable<AccountKey>) => string;
};

export type LabelWish = Pick<Subscription, 'includeAddressBook' | 'includeMetadata'>;

/** Bytes of a book or of the metadata in one event. Labels beyond it are left out. */
const LABELS_BYTES_MAX = 384 * 1024;

/** Accounts of a change that are labelled. */
export const LABELLED_MAX = 5_000;

/** Milliseconds for which an event waits for its labels. */
const WAIT_MS = 500;

/**
 * Reads the labels of all accounts of a change in one call for each kind. A label that does not come in time is left out.
 * @param wish labels that a connection asks for
 */
export async function readLabels(
  labels: Labels,
  accounts: Iterable<AccountKey>,
  wish: LabelWish,
  signal: AbortSignal,
): Promise<LabelTexts> {
  const { includeAddressBook, includeMetadata } = wish;
  if (!includeAddressBook && !includeMetadata) return textsOf({}, {});
  const distinct = [...new Set(accounts)].slice(0, LABELLED_MAX);
  const [book, metadata] = await Promise.all([
    includeAddressBook ? inTime(labels.addressBook, distinct, signal) : {},
    includeMetadata ? inTime(labels.metadata, distinct, signal) : {},
  ]);
  return textsOf(book, metadata);
}

async function inTime(
  read: Labels[keyof Labels],
  accounts: readonly AccountKey[],
  signal: AbortSignal,
): Promise<object> {
  const late = AbortSignal.timeout(WAIT_MS);
  const ends = AbortSignal.any([signal, late]);
  const { promise, resolve } = Promise.withResolvers<object>();
  ends.addEventListener('abort', () => resolve({}), { once: true });
  if (ends.aborted) return {};
  return Promise.race([promise, read(accounts, ends).catch(() => ({}))]);
}

function textsOf(book: object, metadata: object): LabelTexts {
  const writeBook = writerOf(book);
  const writeMetadata = writerOf(metadata, mastersOf);
  return {
    of(accounts, { includeAddressBook, includeMetadata }, described) {
      if (!includeAddressBook && !includeMetadata) return '';
      const distinct = new Set(accounts);
      const ofBook = includeAddressBook ? `,"address_book":${writeBook(distinct)}` : '';
      return includeMetadata
        ? `${ofBook},"metadata":${writeMetadata(described === undefined ? distinct : new Set(described))}`
        : ofBook;
    },
  };
}

/** An entry of the metadata of v3. */
type TokensOfAccount = ReturnType<Metadata['toJSON']>[string];

/** Masters of the jetton wallets among the tokens of an account. */
function mastersOf(tokens: unknown): readonly AccountKey[] {
  const { token_info: infos } = tokens as TokensOfAccount;
  return infos.flatMap(({ type, extra }) => (type === 'jetton_wallets' ? String(extra?.['jetton']) : []));
}

const none: readonly never[] = [];

/**
 * Writes the entries of some accounts. Each entry becomes text once.
 * @param furtherOf accounts that an entry refers to. Their entries follow
 */
function writerOf(
  labels: object,
  furtherOf: (label: unknown) => readonly AccountKey[] = () => none,
): (accounts: ReadonlySet<AccountKey>) => string {
  const values = labels as Readonly<Record<AccountKey, unknown>>;
  const entries = new Map<AccountKey, Entry>();
  return (accounts) => {
    // It grows while it is read: further accounts come last.
    const all = new Set(accounts);
    let text = '';
    let bytes = 0;
    for (const account of all) {
      if (!Object.hasOwn(values, account)) continue;
      for (const further of furtherOf(values[account])) all.add(further);
      const entry = entries.get(account) ?? entryOf(account, values[account]);
      entries.set(account, entry);
      bytes += entry.bytes;
      if (bytes > LABELS_BYTES_MAX) break;
      text += text === '' ? entry.text : `,${entry.text}`;
    }
    return `{${text}}`;
  };
}

type Entry = { readonly text: string; readonly bytes: number };

function entryOf(account: AccountKey, value: unknown): Entry {
  const text = `${JSON.stringify(account)}:${lineOf(value)}`;
  return { text, bytes: Buffer.byteLength(text) };
}
