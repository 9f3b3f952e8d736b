import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { readTracesOf } from '#service/store/queries/traces.ts';
import type { TransactionPlace } from '#service/store/queries/transactions.ts';
import { viewBytes } from '../request/scalars.ts';
import type { CachedJson } from '#service/runtime/json-cache.ts';
import { batchesOf, unpackJson } from './packed-json.ts';
import { TRACE_FORMAT_VERSION, type StoredTrace } from './stored-trace.ts';
import type { RenderedTransaction } from '../views/trace-tree.ts';

/** Data of a rendered transaction besides its text. */
export type TransactionNames = Omit<RenderedTransaction, 'json'> & { readonly accounts: readonly string[] };

/** Rendered transactions, cut out of stored traces. */
export type StoredTransactions = {
  /** Transactions of stored traces, by `hashKey` of their hashes. Others are missing, and all of few places. */
  find(
    places: readonly TransactionPlace[],
    reader: StoreReader,
  ): Promise<ReadonlyMap<string, CachedJson<TransactionNames>>>;
};

/** Fewer transactions are rendered in less time than a query for their traces takes. */
export const STORED_FROM = 8;

/** Most messages of a trace for each wanted transaction, some three transactions: reading five costs as much as rendering one. */
const MESSAGES_PER_WANTED = 8;

/** A wanted part of a trace. */
type Wanted = { readonly id: Buffer; readonly hashes: Map<string, string> };

export const storedTransactions: StoredTransactions = {
  async find(places, reader) {
    if (places.length < STORED_FROM) return new Map();
    const wanted = wantedOf(places);
    const limits = wanted.values().map(({ hashes }) => hashes.size * MESSAGES_PER_WANTED);
    const ids = wanted.values().map(({ id }) => id);
    const traces = await readTracesOf(reader, [...ids], [...limits], TRACE_FORMAT_VERSION);
    const batches = batchesOf(traces, ({ packed }) => packed);
    const cut = await mapInSlices(
      batches,
      (batch) => {
        const unpacked = unpackJson<StoredTrace>(batch.map(({ packed }) => packed)) ?? [];
        const found = takeWanted(
          unpacked.map((trace, at) => ({ ...trace, ...wanted.get(hashKey(batch[at]!.trace_id))! })),
        );
        for (const [, { text }] of found) reader.takeBytes?.(text.length);
        return found;
      },
      createTimeSlice(reader.signal),
    );
    return new Map(cut.flat());
  },
};

function wantedOf(places: readonly TransactionPlace[]): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { hash, trace_id: id } of places) {
    const key = hashKey(id);
    const one = wanted.get(key) ?? { id, hashes: new Map<string, string>() };
    one.hashes.set(viewBytes(hash), hashKey(hash));
    wanted.set(key, one);
  }
  return wanted;
}

/** Copies the wanted transactions: views would retain all transactions of the traces. */
function takeWanted(
  traces: readonly (CachedJson<StoredTrace> & Wanted)[],
): readonly (readonly [key: string, transaction: CachedJson<TransactionNames>])[] {
  const found = traces.flatMap(({ id, hashes, text, names }) =>
    Array.from(transactionsIn(text.subarray(names.treeBytes + names.orderBytes)))
      .filter(({ hash }) => hashes.has(hash))
      .map((one) => ({ ...one, key: hashes.get(one.hash)!, traceId: viewBytes(id) })),
  );
  const bytes = Buffer.concat(found.map(({ json }) => json));
  let at = 0;
  return found.map(({ key, hash, traceId, json }) => {
    const text = bytes.subarray(at, (at += json.length));
    return [key, { text, names: { hash, traceId, ...linksIn(text) } }] as const;
  });
}

/** End of a rendered transaction. In a text of JSON its quotes are escaped. */
const END = Buffer.from('"finality":"finalized"}');

const HASH_LENGTH = 44;

/** Transactions of a JSON object by hash: `{"<hash>":{…},"<hash>":{…}}`. */
function* transactionsIn(all: Buffer): Generator<{ readonly hash: string; readonly json: Buffer }> {
  // Each entry follows an opening brace or a comma, and a quote.
  for (let at = 2; at < all.length;) {
    const start = at + HASH_LENGTH + 2;
    const end = all.indexOf(END, start);
    if (end < 0) return;
    yield { hash: all.toString('latin1', at, at + HASH_LENGTH), json: all.subarray(start, end + END.length) };
    at = end + END.length + 2;
  }
}

/** Between the hash and the source of a message. No other object has a hash as its first member, and then a source. */
const HASH_THEN_SOURCE = '","source":';

/** Messages of a rendered transaction, and accounts in the order of `accounts`. */
function linksIn(json: Buffer): Pick<TransactionNames, 'in_msg' | 'out_msgs' | 'accounts'> {
  const text = json.toString('latin1');
  const accounts = [stringAt(text, '{"account":'.length)!];
  const out_msgs: { readonly hash: string }[] = [];
  let in_msg: TransactionNames['in_msg'] = null;
  for (let at = 0; (at = text.indexOf(HASH_THEN_SOURCE, at + 1)) > 0;) {
    const start = at - HASH_LENGTH - '{"hash":"'.length;
    if (!text.startsWith('{"hash":"', start)) continue;
    const sourceAt = at + HASH_THEN_SOURCE.length;
    const source = stringAt(text, sourceAt);
    const destinationAt = sourceAt + (source === null ? 'null' : `"${source}"`).length + ',"destination":'.length;
    const isTaken = text.startsWith('"in_msg":', start - '"in_msg":'.length);
    const end = isTaken ? source : stringAt(text, destinationAt);
    if (end !== null) accounts.push(end);
    const message = { hash: text.slice(at - HASH_LENGTH, at) };
    if (isTaken) in_msg = message;
    else out_msgs.push(message);
  }
  return { in_msg, out_msgs, accounts };
}

/** String without escapes, or null, at a place of a JSON text. */
function stringAt(text: string, at: number): string | null {
  return text[at] === '"' ? text.slice(at + 1, text.indexOf('"', at + 1)) : null;
}
