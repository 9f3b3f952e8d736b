import { mapPaced } from '../contract/paced.ts';
import { list, named, object } from '../contract/shape.ts';
import { parseBoc } from '../decode/boc.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { addressText } from '../decode/messages/addresses.ts';
import type { Message } from '../decode/tlb/message.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import { findMessages, messageOrder, type FoundMessage } from '../store/queries/messages.ts';
import { accountNotes, type AccountNotes } from './account-notes.ts';
import { readPage } from './cursor.ts';
import { message, viewMessage, type MessageView } from './message-views.ts';
import { defineV3Operation, type V3Operation } from './operation.ts';
import { bool, hash, hashes, cursorPaging, nullableAccount, opcode, windows } from './parameters.ts';
import { viewBytes } from './scalars.ts';
import { direction } from './transactions.ts';

const messagesResponse = named('MessagesResponse', object({ messages: list(message), ...accountNotes }));

/** The operation about messages (v3 sheet section 7). */
export function messageOperations(notes: AccountNotes): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'messages',
      tag: 'blockchain',
      summary: 'Messages that all filters let through, each once.',
      parameters: {
        hashes: hashes('msg_hash'),
        hash: hash('hash'),
        bodyHash: hash('body_hash'),
        source: nullableAccount('source'),
        destination: nullableAccount('destination'),
        opcode: opcode('opcode'),
        excludeExternals: bool('exclude_externals'),
        onlyExternals: bool('only_externals'),
        direction,
        ...windows,
        ...cursorPaging,
      },
      result: messagesResponse,
      flat: true,
      handle: async ({ hash: single, ...values }, context) => {
        const given = single === undefined ? values.hashes : [...values.hashes, single];
        const order = { list: 'messages', order: messageOrder(values, values) };
        const rows = await readPage(order, values, context, (after) =>
          findMessages(context.store, { ...values, hashes: given }, { ...values, after }),
        );
        const found = await openMessages(rows);
        const [messages, told] = await Promise.all([
          viewMessages(found),
          notes.notesOf(
            found.flatMap(({ content }) => endsOf(content)),
            context,
          ),
        ]);
        return { messages, ...told };
      },
    }),
  ];
}

/** A message within the transaction that holds it. */
type OpenedMessage = {
  readonly table: CellTable;
  readonly content: Message;
  readonly softwareVersion: number | null;
  readonly transactions: Pick<MessageView, 'in_msg_tx_hash' | 'out_msg_tx_hash'>;
};

/** Messages out of the transactions that hold them, in the order given; those that none holds are left out. */
async function openMessages(rows: readonly FoundMessage[]): Promise<readonly OpenedMessage[]> {
  const opened = await mapPaced(rows, openFound);
  return opened.filter((one) => one !== undefined);
}

async function viewMessages(opened: readonly OpenedMessage[]): Promise<readonly MessageView[]> {
  const store = createCellStore();
  return mapPaced(opened, ({ table, content, softwareVersion, transactions }) => ({
    ...viewMessage(table, content, softwareVersion, store),
    ...transactions,
  }));
}

/** As the message's view names them; null outside. */
function endsOf({ info }: Message): readonly (string | null)[] {
  return [
    info.kind === 'externalIn' ? null : addressText(info.source),
    info.kind === 'externalOut' ? null : addressText(info.destination),
  ];
}

/** The transaction before it may be another than its sender's, where that is not indexed: only one that holds the message is told. */
function openFound(row: FoundMessage): OpenedMessage | undefined {
  const sent = findWithin(row.producer_boc, row);
  const taken = findWithin(row.consumer_boc, row);
  const holder = taken ?? sent;
  if (holder === undefined) return undefined;
  const isSent = row.producer_boc === null || sent !== undefined;
  return {
    ...holder,
    softwareVersion: taken === undefined ? row.producer_version : row.consumer_version,
    transactions: {
      ...(row.consumer_hash !== null && { in_msg_tx_hash: viewBytes(row.consumer_hash) }),
      ...(row.producer_hash !== null && isSent && { out_msg_tx_hash: viewBytes(row.producer_hash) }),
    },
  };
}

function findWithin(
  boc: Buffer | null,
  { hash: name, created_lt: createdLt }: FoundMessage,
): Pick<OpenedMessage, 'table' | 'content'> | undefined {
  if (boc === null) return undefined;
  const table = parseBoc(boc);
  const { inMessage, outMessages } = readTransaction(table, table.roots[0]!);
  const all = inMessage === undefined ? outMessages : [inMessage, ...outMessages];
  // Of many, the one that was sent then is the only one to be hashed.
  const content = all.find(
    ({ info, cell }) => (info.kind === 'externalIn' || info.createdLt === createdLt) && table.hashEquals(cell, name),
  );
  return content && { table, content };
}
