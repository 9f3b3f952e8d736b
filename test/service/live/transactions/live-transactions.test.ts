import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { parseAddress } from '#service/decode/address.ts';
import type { LiteServerError } from '#service/liteserver/errors.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { BlockName, LiveTransaction, MessageName } from '#service/live/transactions/transactions.ts';
import { createTransactionWriter } from '#service/v2/transaction-json.ts';
import { extForm, stdForm, type TransactionForm } from '#service/v2/transaction-views.ts';
import { viewTransactionId } from '#service/v2/views.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { within } from '#test/service/pool/network.ts';
import { readLines, startTransactions } from '../recorded-transactions.ts';
import type { TransactionsUnderTest } from '../recorded-transactions.ts';

type TonlibBlock = { workchain: number; shard: string; seqno: number; root_hash: string; file_hash: string };
type Exchange = {
  readonly note: string;
  readonly request: {
    readonly '@type': string;
    readonly account_address: { readonly account_address: string };
    readonly from_transaction_id: { readonly lt: string; readonly hash: string };
    readonly count?: number;
    readonly try_decode_messages?: boolean;
    readonly id: TonlibBlock;
    readonly after: { readonly account: string; readonly lt: string | number };
    readonly mode: number;
  };
  readonly response: Record<string, unknown>;
};

type Json = { readonly [name: string]: unknown };

function base64(text: string): Buffer {
  return Buffer.from(text, 'base64');
}

function accountOf(text: string): AccountId {
  const { workchain, id } = parseAddress(text)!;
  return { workchain, id };
}

function nameOf({ workchain, shard, seqno, root_hash: root, file_hash: file }: TonlibBlock): BlockName {
  const hashes = { rootHash: base64(root), fileHash: base64(file) };
  return { workchain, shard: BigInt.asUintN(64, BigInt(shard)), seqno, hashes };
}

/** Every data of a message that tonlib was not asked to decode is raw: only then the body is not compared as text. */
function withoutData(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, part: unknown) => (key === 'msg_data' ? undefined : part)));
}

/** The transactions as operations write them. */
async function show<T>(form: TransactionForm<T>, transactions: readonly LiveTransaction[]): Promise<readonly T[]> {
  const written = await createTransactionWriter(form)(transactions, new AbortController().signal);
  return written.map((one) => one.toJSON());
}

type Fullest = { name: BlockName; all: readonly LiveTransaction[] };

const recordings = recordingDirs().map((dir) => ({ dir, name: dir.split('/').at(-1)! }));
skipLoudly(recordings.length === 0, { what: 'live transactions', why: 'no recorded network among the fixtures' });

describe.each(recordings)('transactions of the recorded network $name', ({ dir }) => {
  const exchanges = readLines<Exchange>(dir, 'tonlib.jsonl');
  let world: TransactionsUnderTest;
  /** Every transaction of the chain by account, oldest first, as the blocks hold them. */
  let history: Map<string, LiveTransaction[]>;
  /** Internal messages that were sent by one transaction and received by another; the collator's own have no sender. */
  let messages: { name: MessageName; sender: LiveTransaction; receiver: LiveTransaction }[];

  beforeAll(async () => {
    world = await startTransactions(dir);
    const { chain } = world.network;
    history = new Map();
    const blocks = [-1, 0].flatMap((workchain) => [
      ...new Set([0n, 2n ** 63n].flatMap((p) => chain.along(workchain, p))),
    ]);
    for (const block of blocks.toSorted((a, b) => Number(a.header.startLt - b.header.startLt))) {
      const table = chain.parse(block);
      for (const transaction of readBlockTransactions(table, table.roots[0]!)) {
        const key = keyOf({ workchain: block.id.workchain, id: transaction.account });
        history.set(key, [...(history.get(key) ?? []), { workchain: block.id.workchain, table, transaction }]);
      }
    }
    const all = [...history.values()].flat();
    const senders = new Map(
      all.flatMap((one) => one.transaction.outMessages.map(({ cell }) => [one.table.hash(cell).toString('hex'), one])),
    );
    messages = all.flatMap((receiver) => {
      const { inMessage } = receiver.transaction;
      const sender = inMessage && senders.get(receiver.table.hash(inMessage.cell).toString('hex'));
      if (inMessage?.info.kind !== 'internal' || sender === undefined) return [];
      const { source, destination, createdLt } = inMessage.info;
      return source === undefined ? [] : [{ name: { source, destination, createdLt }, sender, receiver }];
    });
  });

  afterAll(() => world.close());

  /** Recorded exchanges of one of the kinds. */
  function recorded(...types: string[]): Exchange[] {
    const found = exchanges.filter(({ request }) => types.includes(request['@type']));
    expect(found.length).toBeGreaterThan(0);
    return found;
  }

  /** An account with more than 40 transactions that nothing changes any more. */
  function example(): { account: AccountId; all: readonly LiveTransaction[] } {
    const [key, all] = [...history].find(([, list]) => list.length > 40 && list.length < 200)!;
    return { account: accountOf(key), all: all.toReversed() };
  }

  /** The block with most transactions, as its bytes have it. */
  function fullest(): Fullest {
    const { chain } = world.network;
    const ids = Array.from({ length: chain.lastSeqno }, (_, at) => chain.masterchain(at + 1)!).flatMap(({ shards }) =>
      shards.map(({ block }) => chain.find(block)).filter((block) => block !== undefined),
    );
    const sizes = [...new Set(ids)].map((block) => ({ block, size: block.bytes.length }));
    const { block } = sizes.toSorted((a, b) => b.size - a.size)[0]!;
    const table = chain.parse(block);
    const { workchain, shard, seqno } = block.id;
    const all = readBlockTransactions(table, table.roots[0]!).map((transaction) => ({
      workchain,
      table,
      transaction,
    }));
    return { name: { workchain, shard, seqno }, all };
  }

  test('tonlib lists the same, field by field', async () => {
    for (const { note, request, response } of recorded('raw.getTransactions', 'raw.getTransactionsV2')) {
      const { lt, hash } = request.from_transaction_id;
      const range = { from: { lt: BigInt(lt), hash: base64(hash) }, limit: request.count ?? 10, toLt: 0n };
      const account = accountOf(request.account_address.account_address);
      const shown: unknown = await world.live.readTransactions(account, range, within(60_000)).then(
        async ({ value }) => ({
          '@type': 'raw.transactions',
          transactions: await show(stdForm, value.transactions),
          previous_transaction_id: viewTransactionId(value.previous),
        }),
        refusalOf,
      );
      const expected = response['@type'] === 'error' ? refusalText(response) : response;
      const compared = (value: unknown): unknown =>
        request.try_decode_messages === false ? withoutData(value) : value;
      expect({ note, shown: compared(shown) }).toEqual({ note, shown: compared(expected) });
    }
  });

  test('blocks list the same names as tonlib lists', async () => {
    for (const { note, request, response } of recorded('blocks.getTransactions')) {
      const { value } = await world.live.listBlock(nameOf(request.id), rangeOf(request), within(60_000));
      const shown = value.transactions.map(({ account, lt, hash }) => ({
        account: account.toString('base64'),
        lt: lt.toString(),
        hash: hash.toString('base64'),
      }));
      const expected = (response['transactions'] as Json[]).map(({ account, lt, hash }) => ({ account, lt, hash }));
      expect({ note, shown }).toEqual({ note, shown: expected });
      expect(value.incomplete).toBe(response['incomplete']);
    }
  });

  test('blocks give the same transactions as tonlib gives', async () => {
    for (const { note, request, response } of recorded('blocks.getTransactionsExt')) {
      const { value } = await world.live.readBlockTransactions(nameOf(request.id), rangeOf(request), within(60_000));
      const shown = await show(stdForm, value.transactions);
      expect({ note, shown: withoutData(shown) }).toEqual({ note, shown: withoutData(response['transactions']) });
      expect(value.incomplete).toBe(response['incomplete']);
      const names = (await show(extForm, value.transactions)).map(({ account }) => account);
      expect(names.every((name) => name.startsWith(`${request.id.workchain}:`))).toBe(true);
    }
  });

  test('a whole history is walked, of the busiest accounts up to the limit', async () => {
    const busiest = [...history].toSorted(([, a], [, b]) => b.length - a.length).slice(0, 4);
    for (const [key, all] of busiest) {
      const account = accountOf(key);
      const expected = all.toReversed().slice(0, 1000).map(hashOf);
      const { value } = await world.live.readTransactions(account, { limit: 1000, toLt: 0n }, within(60_000));
      expect(value.transactions.map(hashOf)).toEqual(expected);
      const oldest = value.transactions.at(-1)!.transaction;
      expect(value.previous).toEqual({ lt: oldest.prevLt, hash: oldest.prevHash });
    }
  });

  describe('a stretch of a history', () => {
    const limits = [1, 2, 15, 16, 17, 33];

    test.each(limits)('of %i from the newest, and from there on', async (limit) => {
      const { account, all } = example();
      const first = await world.live.readTransactions(account, { limit, toLt: 0n }, within(60_000));
      expect(first.value.transactions.map(hashOf)).toEqual(all.slice(0, limit).map(hashOf));
      const { previous } = first.value;
      const next = await world.live.readTransactions(account, { from: previous, limit, toLt: 0n }, within(60_000));
      expect(next.value.transactions.map(hashOf)).toEqual(all.slice(limit, 2 * limit).map(hashOf));
      const again = await world.live.readTransactions(account, { from: previous, limit, toLt: 0n }, within(60_000));
      expect(again).toEqual({ value: next.value, liteServers: [], cached: true });
    });

    test.each(limits)('that ends above the lt of the transaction after %i', async (count) => {
      const { account, all } = example();
      const toLt = all[count]!.transaction.lt;
      const { value } = await world.live.readTransactions(account, { limit: 1000, toLt }, within(60_000));
      expect(value.transactions.map(hashOf)).toEqual(all.slice(0, count).map(hashOf));
      expect(value.previous.lt).toBe(toLt);
    });

    test('is empty at and above the newest lt, at lt 0, and of an account that never had any', async () => {
      const { account, all } = example();
      const { lt } = all[0]!.transaction;
      const hash = Buffer.alloc(32, 1);
      const never = { workchain: 0, id: Buffer.alloc(32, 0x99) };
      const nothing = { transactions: [], previous: { lt: 0n, hash: Buffer.alloc(32) } };
      const { live } = world;
      expect((await live.readTransactions(account, { limit: 5, toLt: lt }, within(60_000))).value.transactions).toEqual(
        [],
      );
      expect(
        (await live.readTransactions(account, { from: { lt: 0n, hash }, limit: 5, toLt: 0n }, within(60_000))).value,
      ).toEqual(nothing);
      expect((await live.readTransactions(never, { limit: 5, toLt: 0n }, within(60_000))).value).toEqual(nothing);
    });

    test("is the lite server's refusal where lt and hash do not belong together", async () => {
      const { account, all } = example();
      const from = { lt: all[0]!.transaction.lt, hash: Buffer.alloc(32, 1) };
      const asked = world.live.readTransactions(account, { from, limit: 5, toLt: 0n }, within(60_000));
      await expect(asked).rejects.toMatchObject({ data: { text: 'transaction hash mismatch' } });
    });
  });

  describe('a listing of the fullest block', () => {
    test('is whole, and says that nothing follows exactly when nothing does', async () => {
      const { name, all } = fullest();
      expect(all.length).toBeGreaterThan(8);
      for (const count of [1, 7, all.length - 1, all.length, all.length + 1, 10_000]) {
        const expected = { hashes: all.slice(0, count).map(hashOf), incomplete: count < all.length };
        const names = (await world.live.listBlock(name, { count }, within(60_000))).value;
        const whole = (await world.live.readBlockTransactions(name, { count }, within(60_000))).value;
        const listed = {
          hashes: names.transactions.map(({ hash }) => hash.toString('hex')),
          incomplete: names.incomplete,
        };
        expect(listed).toEqual(expected);
        expect({ hashes: whole.transactions.map(hashOf), incomplete: whole.incomplete }).toEqual(expected);
      }
    });

    test('goes on behind each of its places', async () => {
      const { name, all } = fullest();
      for (let at = 0; at < all.length; at += 5) {
        const { account, lt } = all[at]!.transaction;
        const { value } = await world.live.listBlock(name, { count: 3, after: { account, lt } }, within(60_000));
        expect(value.transactions.map(({ hash }) => hash.toString('hex'))).toEqual(
          all.slice(at + 1, at + 4).map(hashOf),
        );
      }
    });

    test('is refused for a block that the network does not have', async () => {
      const { name } = fullest();
      const hashes = { rootHash: Buffer.alloc(32, 1), fileHash: Buffer.alloc(32, 2) };
      const asked = world.live.listBlock({ ...name, hashes }, { count: 3 }, within(60_000));
      await expect(asked).rejects.toMatchObject({ data: { serverCode: 651 } });
    });
  });

  describe('both ends of a message', () => {
    test('are found for messages all along the chain', async () => {
      const step = Math.ceil(messages.length / 60);
      const sample = messages.filter((_, at) => at % step === 0);
      expect(sample.length).toBeGreaterThan(10);
      for (const { name, sender, receiver } of sample) {
        const received = await world.live.findReceiver(name, within(60_000));
        const sent = await world.live.findSender(name, within(60_000));
        expect([hashOf(sent.value), hashOf(received.value)]).toEqual([hashOf(sender), hashOf(receiver)]);
      }
    });

    test.each([
      ['of an lt before the chain', (name: MessageName) => ({ ...name, createdLt: 0n })],
      ['of an lt beyond the head', (name: MessageName) => ({ ...name, createdLt: 2n ** 62n })],
      ['of another lt', (name: MessageName) => ({ ...name, createdLt: name.createdLt + 500n })],
      ['between accounts that never were', (name: MessageName) => ({ ...name, source: nobody, destination: nobody })],
      ['from somebody else', (name: MessageName) => ({ ...name, source: nobody })],
      ['to somebody else', (name: MessageName) => ({ ...name, destination: nobody })],
    ])('are not found %s', async (_what, change) => {
      for (const { name } of [messages[0]!, messages.at(-1)!]) {
        const changed = change(name);
        const wanted = { code: 'transaction_not_found' };
        await expect(world.live.findReceiver(changed, within(60_000))).rejects.toMatchObject(wanted);
        await expect(world.live.findSender(changed, within(60_000))).rejects.toMatchObject(wanted);
      }
    });
  });
});

const nobody: AccountId = { workchain: 0, id: Buffer.alloc(32, 0x99) };

/** The lite server's words. */
function refusalOf(error: LiteServerError): object {
  return { refusal: error.data.text };
}

/** The same words as tonlib passes them on. */
function refusalText({ message }: { readonly message?: unknown }): object {
  return { refusal: String(message).replace(/^LITE_SERVER_\w+: /, '') };
}

function rangeOf({ count = 40, mode, after }: Exchange['request']) {
  return { count, after: (mode & 128) === 0 ? undefined : { account: base64(after.account), lt: BigInt(after.lt) } };
}

function keyOf({ workchain, id }: AccountId): string {
  return `${workchain}:${id.toString('hex')}`;
}

function hashOf({ table, transaction }: LiveTransaction): string {
  return table.hash(transaction.cell).toString('hex');
}
