import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { packRows, unpackRows } from '#service/indexer/rows/packed-rows.ts';
import { bytesOfRows } from '#service/indexer/rows/row-bytes.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import type { RowThreads } from '#service/indexer/rows/threads.ts';
import { createRowThreads } from '#service/indexer/rows/threads.ts';
import type { SourceBlocks } from '#service/indexer/source.ts';
import type { BlockRows } from '#service/store/tables.ts';
import { noRows } from '#test/support/block-rows.ts';
import { recordedBlocks } from '../recorded-blocks.ts';

const logger = pino({ level: 'silent' });
const never = new AbortController().signal;

describe('the threads that make rows', () => {
  let threads: RowThreads | undefined;
  let blocks: readonly SourceBlocks[];
  let block: SourceBlocks;

  beforeAll(async () => {
    blocks = await recordedBlocks();
    block = blocks[0]!;
  });

  afterEach(async () => {
    await threads?.close();
    threads = undefined;
  });

  it('give what the function gives, over the whole recorded chain', async () => {
    threads = createRowThreads({ workers: 2, blocksMax: blocks.length }, { logger });
    const found = await Promise.all(blocks.map((one) => threads!.toRows(one, never)));
    expect(found).toEqual(blocks.map(rowsOf));
  });

  it('refuse a block that is none, and go on', async () => {
    threads = createRowThreads({ workers: 1 }, { logger });
    const damaged = { ...block, masterchain: { ...block.masterchain, boc: block.masterchain.boc.subarray(1) } };
    await expect(threads.toRows(damaged, never)).rejects.toMatchObject({ code: 'rows_failed', retryable: true });
    expect(await threads.toRows(block, never)).toEqual(rowsOf(block));
  });

  it('let go of what nobody waits for any more', async () => {
    threads = createRowThreads({ workers: 1 }, { logger });
    const ending = new AbortController();
    const rows = threads.toRows(block, ending.signal);
    const reason = new Error('nobody waits');
    ending.abort(reason);
    await expect(rows).rejects.toBe(reason);
    await expect(threads.toRows(block, ending.signal)).rejects.toBe(reason);
    expect(await threads.toRows(block, never)).toEqual(rowsOf(block));
  });

  it('take a bounded number of blocks, and none once closed', async () => {
    threads = createRowThreads({ workers: 1, blocksMax: 1 }, { logger });
    const first = threads.toRows(block, never);
    await expect(threads.toRows(block, never)).rejects.toMatchObject({ code: 'rows_failed' });
    await first;
    const last = threads.toRows(block, never);
    const closing = threads.close();
    await expect(last).rejects.toMatchObject({ code: 'rows_failed' });
    await closing;
    await expect(threads.toRows(block, never)).rejects.toMatchObject({ code: 'rows_failed' });
  });

  it('fail what a broken thread held, and start another', async () => {
    threads = createRowThreads({ workers: 1, workerUrl: new URL('data:text/javascript,process.exit(3)') }, { logger });
    for (let time = 0; time < 2; time++) {
      await expect(threads.toRows(block, never)).rejects.toMatchObject({ code: 'rows_failed' });
    }
  });
});

describe('packed rows', () => {
  it('have some fewer bytes than are counted for them', async () => {
    const rows = (await recordedBlocks()).map(rowsOf);
    const sum = (sizeOf: (one: BlockRows) => number): number => rows.reduce((total, one) => total + sizeOf(one), 0);
    const ratio = sum(bytesOfRows) / sum((one) => packRows(one).length);
    expect(ratio).toBeGreaterThan(1);
    expect(ratio).toBeLessThan(1.5);
  });

  it('hold amounts, texts and lists that recorded blocks do not have', () => {
    const state = {
      hash: Buffer.alloc(32, 1),
      balance: (1n << 119n) + 5n,
      extra_currencies: { '100': '12345678901234567890' },
      status: 2,
      frozen_hash: null,
      data_hash: Buffer.alloc(32, 2),
      code_hash: null,
    };
    const rows: BlockRows = {
      ...noRows(7),
      accountStates: [state, { ...state, balance: -1n, extra_currencies: null }],
      codes: [
        { code_hash: Buffer.alloc(32, 3), boc: Buffer.from('b5ee', 'hex'), methods: [0, 85143, 524287] },
        { code_hash: Buffer.alloc(32, 4), boc: Buffer.alloc(0), methods: null },
      ],
    };
    expect(unpackRows(packRows(rows))).toEqual(rows);
  });
});
