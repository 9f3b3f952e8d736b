import { pino } from 'pino';
import { describe, expect, test } from 'vitest';

import { createBatchWriter, isTurnOver } from '#service/indexer/batch-writer.ts';
import { createRetry } from '#service/runtime/retry.ts';
import type { ReadBlocks } from '#service/indexer/stream.ts';
import { StoreError } from '#service/store/errors.ts';
import type { BlockRows } from '#service/store/tables.ts';
import type { Writer } from '#service/store/writer.ts';

/** A masterchain block with so many transactions, of which nothing else matters here. */
function read(mcSeqno: number, transactions: number): ReadBlocks {
  const rows = { mcSeqno, transactions: Array.from({ length: transactions }) } as unknown as BlockRows;
  return { rows, utime: 0, bytes: 1 };
}

const turn = { advance: () => Promise.resolve() };
const signal = new AbortController().signal;

/** A writer over a store that fails in these ways first. */
function failing(...failures: StoreError[]) {
  const written: string[] = [];
  const writer: Pick<Writer, 'write'> = {
    write(rows) {
      const failure = failures.shift();
      return failure === undefined ? Promise.resolve(rows.map(({ mcSeqno }) => mcSeqno)) : Promise.reject(failure);
    },
  };
  const retry = createRetry({
    logger: pino({ level: 'silent' }),
    random: () => 0,
    unixMs: () => 0,
    onFailure: () => undefined,
    isFinal: isTurnOver,
  });
  const onWritten = (...what: unknown[]): void => void written.push(what.join(' '));
  return { written, writer: createBatchWriter({ writers: { head: writer, backfill: writer }, retry, onWritten }) };
}

const away = new StoreError('store_unavailable', 'Postgres is away');

function outOfOrder(found: number): StoreError {
  return new StoreError('out_of_order', 'elsewhere', { found, expected: 6 });
}

describe('a batch', () => {
  test('is written again until Postgres takes it', async () => {
    const { writer, written } = failing(away, away);
    await writer.write('head', [read(7, 3), read(8, 2)], turn, signal);
    expect(written).toEqual(['head 2 5']);
  });

  test('that was committed though the connection broke is done', async () => {
    const { writer, written } = failing(away, outOfOrder(8));
    await writer.write('backfill', [read(7, 3), read(8, 2)], turn, signal);
    expect(written).toEqual(['backfill 2 5']);
  });

  test.each([outOfOrder(5), new StoreError('lease_lost', 'another one'), new StoreError('range_lost', 'another one')])(
    'that another process is to write is given up: $code',
    async (error) => {
      const { writer, written } = failing(error);
      await expect(writer.write('head', [read(7, 3), read(8, 2)], turn, signal)).rejects.toBe(error);
      expect(written).toEqual([]);
    },
  );
});
