import { beforeAll, afterAll, beforeEach, describe, expect, it } from 'vitest';

import { jettonTransfers } from '#service/store/classification-tables.ts';
import { writeClassification, type Classification, type RefusedMessage } from '#service/store/classification-writer.ts';
import { createInserts } from '#service/store/insert.ts';
import { claimInterpretations, queueInterpretations, type ClaimedBlocks } from '#service/store/interpretations.ts';
import { createPartitions } from '#service/store/partitions.ts';
import { transactions } from '#service/store/tables.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { bytesOf, jettonTransferRow, keyOf } from '#test/support/token-rows.ts';

const BLOCKS = 8;
const TRANSFER = 0x0f8a7ea5;

/** A wallet with a transfer in each block, whose messages the next block refuses. */
const wallet = keyOf('wallet', 1);
const ltOf = (mcSeqno: number): bigint => BigInt(mcSeqno) * 1000n;
const refusedIn = (mcSeqno: number): RefusedMessage => ({ mcSeqno, source: wallet, createdLt: ltOf(mcSeqno - 1) + 1n });

let made: StoreUnderTest;
beforeAll(async () => {
  made = await createMigratedStore(import.meta.filename);
  await createPartitions(made.store).ensure([ltOf(1)]);
  const rows = Array.from({ length: BLOCKS }, (_, at) => ({
    hash: bytesOf('transaction', at + 1),
    lt: ltOf(at + 1),
    account: wallet,
    utime: 1,
    mc_seqno: at + 1,
    workchain: 0,
    shard: -(2n ** 63n),
    seqno: at + 1,
    trace_id: bytesOf('transaction', at + 1),
    in_msg_hash: bytesOf('message', at + 1),
    in_opcode: TRANSFER,
    in_body_hash: bytesOf('body', at + 1),
    boc: Buffer.alloc(1),
  }));
  await made.store.transaction((session) => createInserts(session, 'unnest').add(transactions, rows));
});
afterAll(() => made.close());

beforeEach(() => made.store.transaction(({ query }) => query('TRUNCATE interpretations; TRUNCATE jetton_transfers')));

const claim = (blocksMax = 1) => claimInterpretations(made.store, { version: 1, blocksMax, claimMs: 60_000 });

/** Writes blocks as the interpreter does: each has the refusals of the messages of the block before. */
function write(claimed: ClaimedBlocks, transfers: Partial<Classification> = {}): Promise<void> {
  const nothing = { contracts: [], edited: [], facts: [], traces: [], actions: [], actionAccounts: [] };
  const none = { looked: [], jettonTransfers: [], jettonBurns: [], nftTransfers: [] };
  const refused = claimed.seqnos.filter((seqno) => seqno > 1).map(refusedIn);
  return writeClassification(made.store, claimed, { ...nothing, ...none, ...transfers, refused });
}

/** Interprets each queued block, one block after the other. @returns the blocks, in their order */
async function interpretAll(transfersOf: (mcSeqno: number) => Partial<Classification> = () => ({})): Promise<number[]> {
  const order: number[] = [];
  for (let claimed = await claim(); claimed !== undefined && order.length < 100; claimed = await claim()) {
    order.push(...claimed.seqnos);
    await write(claimed, transfersOf(claimed.seqnos[0]!));
  }
  return order;
}

const queue = (seqno: number): Promise<void> =>
  made.store.transaction((session) => queueInterpretations(session, [seqno]));

/** The transfer of a block's transaction. */
function transferIn(mcSeqno: number, returned: boolean): Partial<Classification> {
  const place = { tx_hash: bytesOf('transaction', mcSeqno), tx_lt: ltOf(mcSeqno) };
  return {
    looked: [{ hash: place.tx_hash, lt: place.tx_lt }],
    jettonTransfers: [jettonTransferRow(mcSeqno, { ...place, returned })],
  };
}

describe('blocks whose messages a later block refuses', () => {
  it('a transfer that arrived, as far as its block knew, is interpreted once more when it is refused', async () => {
    await queue(1);
    await interpretAll((mcSeqno) => transferIn(mcSeqno, false));
    await queue(2);
    expect(await interpretAll((mcSeqno) => transferIn(mcSeqno, mcSeqno === 1))).toEqual([2, 1]);
    const rows = await made.store.read(`SELECT returned FROM ${jettonTransfers.name} ORDER BY tx_lt`);
    expect(rows).toEqual([{ returned: true }, { returned: false }]);
  });

  it('a contract without transfers is not interpreted again, however long its chain of refusals is', async () => {
    const order: number[] = [];
    for (let seqno = 1; seqno <= BLOCKS; seqno++) {
      await queue(seqno);
      order.push(...(await interpretAll()));
    }
    expect(order).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('transfers that stay as they are, though messages of theirs are refused, are interpreted twice at most', async () => {
    const order: number[] = [];
    for (let seqno = 1; seqno <= BLOCKS; seqno++) {
      await queue(seqno);
      order.push(...(await interpretAll((mcSeqno) => transferIn(mcSeqno, false))));
    }
    expect(order).toEqual([1, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6, 8, 7]);
  });

  it('a block that a worker reads at that moment is read again', async () => {
    await queue(1);
    const reading = (await claim())!;
    await queue(2);
    await write((await claim())!);
    await expect(write(reading)).rejects.toMatchObject({ code: 'claim_lost' });
    expect(await interpretAll()).toEqual([1]);
  });

  it('a block that waits is not disturbed', async () => {
    await queue(1);
    await queue(2);
    expect(await interpretAll()).toEqual([2, 1]);
  });
});
