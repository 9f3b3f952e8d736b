import { createPacer, mapPaced, Written } from '../contract/paced.ts';
import { createTextSlab } from '../contract/text-slab.ts';
import { parseBoc } from '../decode/boc.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { decodeBody } from '../decode/messages/messages.ts';
import type { Message } from '../decode/tlb/message.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import { hashKey } from '../store/hash-key.ts';
import type { FoundMessage } from '../store/queries/messages.ts';
import type { Kept, KeptTexts } from './kept-texts.ts';
import { viewMessage, type MessageView } from './message-views.ts';
import { viewBytes } from './scalars.ts';

/** Shows messages out of the transactions that hold them; those that were asked for last stay written. */
export type MessageWriter = {
  /** Those that no transaction holds are left out. */
  open(rows: readonly FoundMessage[]): Promise<OpenedMessages>;
};

/** Messages, about to be shown in the order given. */
export type OpenedMessages = {
  /** Both ends of each, as its view names them; null outside. */
  readonly ends: Ends;
  write(): Promise<readonly Written<MessageView>[]>;
};

type Ends = readonly (string | null)[];

/** What is kept of a written message beside its text: its ends. */
export type KeptEnds = Ends;

export function createMessageWriter(texts: KeptTexts<KeptEnds>): MessageWriter {
  return {
    async open(rows) {
      const pacer = createPacer();
      const found = new Map<number, Opened>();
      for (const [boc, places] of Map.groupBy(rows.keys(), (place) => rows[place]!.producer_boc)) {
        // What has sent several of them is read once, and let go before the next.
        let holder: Holder | undefined;
        const producer = (): Holder | undefined => (boc === null ? undefined : (holder ??= openHolder(boc)));
        for (const place of places) {
          await pacer.pause();
          const one = openRow(rows[place]!, producer);
          if (one !== undefined) found.set(place, one);
        }
      }
      const opened = [...rows.keys()].flatMap((place) => found.get(place) ?? []);
      const store = createCellStore();
      const slab = createTextSlab();
      return {
        ends: opened.flatMap((one) => ('shown' in one ? endsOf(one.shown.content) : one.names)),
        write: () =>
          mapPaced(opened, (one) => {
            if (!('shown' in one)) return new Written([one.text]);
            const { table, content, softwareVersion, transactions } = one.shown;
            const source = { table, softwareVersion, store, decode: decodeBody };
            const view = { ...viewMessage(content, source), ...transactions };
            const json = new Written<MessageView>([slab.place(JSON.stringify(view))]);
            texts.keep(one.key, { parts: json.parts, names: endsOf(content) });
            return json;
          }),
      };
    },
  };

  function openRow(row: FoundMessage, producer: () => Holder | undefined): Opened | undefined {
    const key = keyOf(row);
    const kept = texts.get(key);
    if (kept !== undefined) return kept;
    const shown = openFound(row, producer());
    return shown && { key, shown };
  }
}

type Opened = { readonly key: string; readonly shown: ShownMessage } | Kept<KeptEnds>;

/** Cells and blocks say all that is shown of a message but who took and sent it: that may become known later. */
const keyOf = ({ hash, consumer_hash: consumer, producer_hash: producer }: FoundMessage): string =>
  [hash, consumer, producer].map((one) => (one === null ? '-' : hashKey(one))).join('');

/** A message within the transaction that holds it. */
type ShownMessage = {
  readonly table: CellTable;
  readonly content: Message;
  readonly softwareVersion: number | null;
  readonly transactions: Pick<MessageView, 'in_msg_tx_hash' | 'out_msg_tx_hash'>;
};

/** As the message's view names them; null outside. */
function endsOf({ info }: Message): readonly (string | null)[] {
  return [
    info.kind === 'externalIn' ? null : addressText(info.source),
    info.kind === 'externalOut' ? null : addressText(info.destination),
  ];
}

/** The transaction before it may be another than its sender's, where that is not indexed: only one that holds the message is told. */
function openFound(row: FoundMessage, producer: Holder | undefined): ShownMessage | undefined {
  const sent = producer && findWithin(producer, row);
  const taken = row.consumer_boc === null ? undefined : findWithin(openHolder(row.consumer_boc), row);
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
  // Of many, the one that was sent then is the only one to be hashed.
  const content = messages.find(
    ({ info, cell }) => (info.kind === 'externalIn' || info.createdLt === createdLt) && table.hashEquals(cell, name),
  );
  return content && { table, content };
}
