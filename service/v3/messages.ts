import { createPacer } from '../contract/paced.ts';
import { list, named, object } from '../contract/shape.ts';
import { parseBoc } from '../decode/boc.ts';
import { createCellStore, type CellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
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
      handle: async ({ hash: single, ...values }, context) => {
        const given = single === undefined ? values.hashes : [...values.hashes, single];
        const order = { list: 'messages', order: messageOrder(values, values) };
        const rows = await readPage(order, values, context, (after) =>
          findMessages(context.store, { ...values, hashes: given }, { ...values, after }),
        );
        const messages = await viewMessages(rows);
        const addresses = messages.flatMap(({ source, destination }) => [source, destination]);
        return { messages, ...(await notes.notesOf(addresses, context)) };
      },
    }),
  ];
}

/** Messages out of the transactions that hold them, in the order given. */
async function viewMessages(rows: readonly FoundMessage[]): Promise<readonly MessageView[]> {
  const pacer = createPacer();
  const store = createCellStore();
  const shown: MessageView[] = [];
  for (const row of rows) {
    await pacer.pause();
    const view = viewFound(row, store);
    if (view !== undefined) shown.push(view);
  }
  return shown;
}

/** The transaction before it may be another than its sender's, where that is not indexed: only one that holds the message is told. */
function viewFound(row: FoundMessage, store: CellStore): MessageView | undefined {
  const sent = findWithin(row.producer_boc, row.hash);
  const taken = findWithin(row.consumer_boc, row.hash);
  const holder = taken ?? sent;
  if (holder === undefined) return undefined;
  const version = taken === undefined ? row.producer_version : row.consumer_version;
  return {
    ...viewMessage(holder.table, holder.found, version, store),
    ...(row.consumer_hash !== null && { in_msg_tx_hash: viewBytes(row.consumer_hash) }),
    ...(row.producer_hash !== null && sent !== undefined && { out_msg_tx_hash: viewBytes(row.producer_hash) }),
  };
}

function findWithin(
  boc: Buffer | null,
  name: Uint8Array,
): { readonly table: CellTable; readonly found: Message } | undefined {
  if (boc === null) return undefined;
  const table = parseBoc(boc);
  const { inMessage, outMessages } = readTransaction(table, table.roots[0]!);
  const all = inMessage === undefined ? outMessages : [inMessage, ...outMessages];
  const found = all.find(({ cell }) => table.hash(cell).equals(name));
  return found && { table, found };
}
