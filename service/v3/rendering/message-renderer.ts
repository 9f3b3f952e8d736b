import { RawJson } from '#service/contract/json-stream.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { createUtf8Buffer } from '#service/runtime/utf8-buffer.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import { decodeBody } from '#service/decode/messages/messages.ts';
import type { Message } from '#service/decode/tlb/message.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { hashKey } from '#service/store/hash-key.ts';
import { readHolders, type FoundMessage } from '#service/store/queries/messages.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { MessageRow } from '#service/store/tables.ts';
import type { CachedJson } from '#service/runtime/json-cache.ts';
import { viewMessage, type MessageView } from '../views/message-views.ts';
import type { CacheOutcome } from '../metrics.ts';
import { viewBytes } from '../request/scalars.ts';
import type { PackedCache } from './packed-cache.ts';

/** Renders messages from their transactions; recently requested messages are cached. */
export type MessageRenderer = {
  /** Messages without a transaction are omitted; cached messages need no read. */
  open(rows: readonly MessageRow[], reader: StoreReader): Promise<OpenedMessages>;
};

/** Messages ready for rendering, in the given order. */
export type OpenedMessages = {
  /** Ends of all messages, one after the other. */
  readonly ends: Ends;
  write(): Promise<readonly RawJson<MessageView>[]>;
};

/** Source and destination as a view names them; null outside. A cached text has them beside it. */
export type Ends = readonly (string | null)[];

/** Earlier renderings of a message that is cached. */
const MADE_BEFORE = 1;

export type MessageRendererDependencies = {
  readonly cache: PackedCache<Ends>;
  /** Called for each look-up. */
  readonly counted: (outcome: CacheOutcome, messages: number) => void;
};

export function createMessageRenderer({ cache, counted }: MessageRendererDependencies): MessageRenderer {
  return {
    async open(rows, reader) {
      const keyed = await mapInSlices(rows, (row) => ({ row, key: keyOf(row) }), createTimeSlice(reader.signal));
      const found = await cache.find(
        keyed.map(({ key }) => key),
        reader,
      );
      const wanted = keyed.map((one) => ({ ...one, cached: found.get(one.key) }));
      const fresh = wanted.flatMap(({ row, cached }) => (cached === undefined ? [row] : []));
      counted('cached', rows.length - fresh.length);
      counted('made', fresh.length);
      const shown = await openFresh(fresh, reader);
      const opened = wanted.flatMap(({ row, key, cached }): Opened[] => {
        const one = cached ?? shown.get(row);
        return one === undefined ? [] : [{ row, key, one }];
      });
      const store = createCellStore();
      const slab = createUtf8Buffer();
      return {
        ends: opened.flatMap(({ one }) => ('text' in one ? one.names : endsOf(one.content))),
        write: () =>
          mapInSlices(
            opened,
            ({ row, key, one }) => {
              if ('text' in one) return new RawJson([one.text]);
              const { table, content, globalVersion, transactions } = one;
              const source = { table, globalVersion, store, decode: decodeBody };
              const view = { ...viewMessage(content, source), ...transactions };
              const text = slab.place(JSON.stringify(view));
              reader.takeBytes?.(text.length);
              const json = new RawJson<MessageView>([text]);
              if (isSettled(row, one)) cache.keep(key, { parts: json.parts, names: endsOf(content) }, MADE_BEFORE);
              return json;
            },
            createTimeSlice(reader.signal),
          ),
      };
    },
  };
}

/** Reads the transactions of the messages. */
async function openFresh(
  rows: readonly MessageRow[],
  reader: StoreReader,
): Promise<ReadonlyMap<MessageRow, ShownMessage>> {
  const found = await readHolders(reader, rows);
  const timeSlice = createTimeSlice(reader.signal);
  const shown = new Map<MessageRow, ShownMessage>();
  for (const [boc, places] of Map.groupBy(found.keys(), (place) => found[place]!.producer_boc)) {
    // A transaction that sent several of them is read once, and released before the next.
    const holder = boc === null ? undefined : openHolder(boc);
    for (const place of places) {
      await timeSlice.pause();
      const one = openFound(found[place]!, holder);
      if (one !== undefined) shown.set(rows[place]!, one);
    }
  }
  return shown;
}

type Opened = { readonly row: MessageRow; readonly key: string; readonly one: ShownMessage | CachedJson<Ends> };

/** A message from outside may be received several times; its row has the lt of the first receipt. */
const keyOf = ({ hash, lt }: MessageRow): string => `${hashKey(hash)}${lt}`;

/** The JSON of a message is final except for its consumer and producer: missing ones may become known later. */
function isSettled({ created_lt: createdLt, destination }: MessageRow, { transactions }: ShownMessage): boolean {
  const isTaken = transactions.in_msg_tx_hash !== undefined || destination === null;
  const isSent = transactions.out_msg_tx_hash !== undefined || createdLt === null;
  return isTaken && isSent;
}

/** A message within its transaction. */
type ShownMessage = {
  readonly table: CellTable;
  readonly content: Message;
  readonly globalVersion: number | null;
  readonly transactions: Pick<MessageView, 'in_msg_tx_hash' | 'out_msg_tx_hash'>;
};

/** Ends in the form of the message's view; null outside. */
function endsOf({ info }: Message): readonly (string | null)[] {
  return [
    info.kind === 'externalIn' ? null : addressText(info.source),
    info.kind === 'externalOut' ? null : addressText(info.destination),
  ];
}

/**
 * If the sender is not indexed, the previous transaction may be another than the sender. Only a transaction with the message is rendered.
 */
function openFound(row: FoundMessage, producer: Holder | undefined): ShownMessage | undefined {
  const sent = producer && findWithin(producer, row);
  const taken = row.consumer_boc === null ? undefined : findWithin(openHolder(row.consumer_boc), row);
  const holder = taken ?? sent;
  if (holder === undefined) return undefined;
  const isSent = row.producer_boc === null || sent !== undefined;
  return {
    ...holder,
    globalVersion: taken === undefined ? row.producer_version : row.consumer_version,
    transactions: {
      ...(row.consumer_hash !== null && { in_msg_tx_hash: viewBytes(row.consumer_hash) }),
      ...(row.producer_hash !== null && isSent && { out_msg_tx_hash: viewBytes(row.producer_hash) }),
    },
  };
}

/** A transaction, and all messages in it. */
type Holder = { readonly table: CellTable; readonly messages: readonly Message[] };

function openHolder(boc: Buffer): Holder {
  const table = parseBoc(boc);
  const { inMessage, outMessages } = readTransaction(table, table.roots[0]!);
  return { table, messages: inMessage === undefined ? outMessages : [inMessage, ...outMessages] };
}

function findWithin(
  { table, messages }: Holder,
  { hash: name, created_lt: createdLt }: FoundMessage,
): Pick<ShownMessage, 'table' | 'content'> | undefined {
  // Among several, only the message sent at that lt has to be hashed.
  const content = messages.find(
    ({ info, cell }) => (info.kind === 'externalIn' || info.createdLt === createdLt) && table.hashEquals(cell, name),
  );
  return content && { table, content };
}
