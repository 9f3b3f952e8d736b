import { beforeAll, describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { FoundMessage } from '#service/store/queries/messages.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { createMessageRenderer, type Ends, type MessageRenderer } from '#service/v3/rendering/message-renderer.ts';
import { createPackedCache } from '#service/v3/rendering/packed-cache.ts';
import type { CacheOutcome } from '#service/v3/metrics.ts';
import { recordedRows } from '#test/support/recorded-index.ts';

let taken: readonly FoundMessage[];
/** That one transaction sent, as nobody took them. */
let sent: readonly FoundMessage[];

beforeAll(async () => {
  const recorded = (await recordedRows()).flatMap((one) => one.transactions);
  const [sender] = recorded.toSorted((one, other) => sentBy(other.boc).length - sentBy(one.boc).length);
  const nobody = { consumer_hash: null, consumer_boc: null, consumer_version: null };
  const bySender = { producer_hash: sender!.hash, producer_boc: Buffer.from(sender!.boc), producer_version: 11 };
  sent = sentBy(sender!.boc).map((one) => ({ ...one, ...nobody, ...bySender }) as unknown as FoundMessage);
  const transactions = recorded.slice(-300);
  taken = transactions.flatMap((row) => {
    if (row.in_msg_hash === null) return [];
    const consumer = { consumer_hash: row.hash, consumer_boc: row.boc, consumer_version: 11 };
    const producer = { producer_hash: null, producer_boc: null, producer_version: null };
    return [{ hash: row.in_msg_hash, created_lt: null, ...consumer, ...producer } as unknown as FoundMessage];
  });
  const { writer } = createWriter();
  // Those from outside, which have no lt: the others are found by theirs.
  const held = await Promise.all(taken.map(async (row) => (await answer(writer, [row])).length > 0));
  taken = taken.filter((_row, at) => held[at]);
});

function sentBy(boc: Uint8Array): readonly { readonly hash: Buffer; readonly created_lt: bigint | null }[] {
  const table = parseBoc(boc);
  return readTransaction(table, table.roots[0]!).outMessages.map(({ cell, info }) => ({
    hash: table.hash(cell),
    created_lt: info.kind === 'externalIn' ? null : info.createdLt,
  }));
}

function createWriter(): { readonly writer: MessageRenderer; readonly found: number[] } {
  const found: number[] = [];
  const cache = createPackedCache<Ends>({ bytesMax: 4_000_000 });
  const counted = (outcome: CacheOutcome, messages: number): void => {
    if (outcome === 'cached') found.push(messages);
  };
  return { writer: createMessageRenderer({ cache, counted }), found };
}

/** Rows as lists of messages have them, and an index that has who holds them. @param asked is told of each that it is asked for */
function openRows(
  writer: MessageRenderer,
  rows: readonly FoundMessage[],
  asked: (messages: number) => void = () => {},
) {
  const held = new Map(rows.map((row) => [base64(row.hash), row]));
  const reader: StoreReader = {
    read: (_sql, [hashes]) => {
      asked((hashes as readonly Buffer[]).length);
      const found = (hashes as readonly Buffer[]).map((hash) => held.get(base64(hash))!);
      return Promise.resolve(found.map((row) => ({ ...row, needs_producer: row.producer_boc !== null })) as never);
    },
  };
  return writer.open(rows, reader);
}

async function answer(writer: MessageRenderer, rows: readonly FoundMessage[]) {
  return (await (await openRows(writer, rows)).write()).map((json) => json.toJSON());
}

const base64 = (hash: Uint8Array): string => Buffer.from(hash).toString('base64');

describe('messages of one sender', () => {
  it('stay in their order beside cached ones', async () => {
    const { writer } = createWriter();
    expect(sent.length).toBeGreaterThan(100);
    await answer(writer, sent.slice(10, 20));
    const rows = taken.flatMap((row, at) => [row, ...sent.slice(at * 3, at * 3 + 3)]);
    const views = await answer(writer, rows);
    expect(views.map(({ hash }) => hash)).toEqual(rows.map(({ hash }) => base64(hash)));
    const alone = await Promise.all(rows.map((row) => answer(createWriter().writer, [row])));
    expect(views).toEqual(alone.flat());
  });
});

describe('messages that are asked for again', () => {
  it('are rendered as the first time, and nothing of them is read', async () => {
    const { writer, found } = createWriter();
    expect(taken.length).toBeGreaterThan(20);
    const first = await answer(writer, taken);
    expect(first.map(({ hash }) => hash)).toEqual(taken.map(({ hash }) => base64(hash)));
    await answer(writer, taken);
    const asked: number[] = [];
    const opened = await openRows(writer, taken, (messages) => asked.push(messages));
    expect(asked).toEqual([]);
    expect((await opened.write()).map((json) => json.toJSON())).toEqual(first);
    expect(opened.ends).toEqual(first.flatMap(({ source, destination }) => [source, destination]));
    expect(found).toEqual([0, 0, taken.length]);
  });

  it('are read again while it is not known who took and who sent them', async () => {
    const { writer } = createWriter();
    const [row] = taken;
    // As if it were from an account, and to one.
    const inside = { ...row!, created_lt: 1n, destination: Buffer.alloc(33) };
    const [sender, another] = [Buffer.alloc(32, 5), Buffer.alloc(32, 6)];
    const steps = [
      { ...inside, consumer_hash: null },
      inside,
      { ...inside, consumer_hash: null, producer_hash: sender },
      { ...inside, producer_hash: sender },
      { ...inside, producer_hash: sender },
      // Both were known: nobody asks.
      { ...inside, producer_hash: another },
    ];
    const told: unknown[] = [];
    for (const step of steps) {
      told.push((await answer(writer, [step])).map(({ in_msg_tx_hash: by, out_msg_tx_hash: of }) => [by, of]));
    }
    const consumer = base64(row!.consumer_hash!);
    expect(told).toEqual([
      [[undefined, undefined]],
      [[consumer, undefined]],
      [[undefined, base64(sender)]],
      [[consumer, base64(sender)]],
      [[consumer, base64(sender)]],
      [[consumer, base64(sender)]],
    ]);
  });

  it('from outside are others when an earlier transaction took them too', async () => {
    const { writer } = createWriter();
    const [row] = taken;
    const takenBy = async (lt: bigint, consumer: number) =>
      (await answer(writer, [{ ...row!, lt, consumer_hash: Buffer.alloc(32, consumer) }])).map(
        (one) => one.in_msg_tx_hash,
      );
    const [later, earlier] = [base64(Buffer.alloc(32, 2)), base64(Buffer.alloc(32, 1))];
    expect([await takenBy(20n, 2), await takenBy(10n, 1), await takenBy(20n, 2)]).toEqual([
      [later],
      [earlier],
      [later],
    ]);
  });

  it('are searched again where none had them', async () => {
    const { writer } = createWriter();
    const [row] = taken;
    expect(await answer(writer, [{ ...row!, consumer_boc: null }])).toEqual([]);
    expect(await answer(writer, [row!])).toHaveLength(1);
  });
});
