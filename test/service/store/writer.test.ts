import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import type { InsertMode } from '#service/store/insert.ts';
import { PARTITION_LTS } from '#service/store/partitions.ts';
import type { Store } from '#service/store/store.ts';
import type { BlockRows } from '#service/store/tables.ts';
import { createWriter, type Writer, type WriteTurn } from '#service/store/writer.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { recordedBlocks } from '../indexer/recorded-blocks.ts';
import { tableHashes } from '../indexer/table-hashes.ts';

/** Anybody's turn. */
const anyTurn: WriteTurn = { advance: async () => {} };

/** `tableHashes` of an empty table. */
const nothing = '0 rows null';

/** Masterchain blocks of the recorded network: those with wallets, tokens and a split. */
const span = { from: 100, to: 340 };

describe('the writer', () => {
  let tested: StoreUnderTest;
  let rows: readonly BlockRows[];

  const writer = (carriage: InsertMode, store: Store = tested.store): Writer =>
    createWriter({ carriage, assemble: assembleTraces }, store);

  beforeAll(async () => {
    rows = (await recordedBlocks()).slice(span.from, span.to).map(rowsOf);
  });

  beforeEach(async () => {
    tested = await createMigratedStore(import.meta.filename);
  });

  afterEach(() => tested.close());

  /** In a database of its own. */
  async function written(carriage: InsertMode, batches: readonly (readonly BlockRows[])[]) {
    const other = await createMigratedStore(import.meta.filename);
    try {
      const write = writer(carriage, other.store);
      for (const batch of batches) await write.write(batch, anyTurn);
      return await tableHashes(other.store);
    } finally {
      await other.close();
    }
  }

  it('writes the same tables by COPY in one batch as by unnest block by block', async () => {
    const [copied, unnested] = [
      await written('copy', [rows]),
      await written(
        'unnest',
        rows.map((one) => [one]),
      ),
    ];
    expect(unnested).toEqual(copied);
    const empty = Object.keys(copied).filter((table) => copied[table]!.startsWith('0 '));
    // No block of the recording changes an account without a transaction.
    expect(empty).toEqual(['account_edits']);
  });

  it.each(['copy', 'unnest'] as const)(
    'leaves by %s what is there as it is, also among new blocks',
    async (carriage) => {
      const write = writer(carriage);
      const some = rows.slice(0, 60);
      await write.write(some.slice(0, 40), anyTurn);
      expect(await write.write(some.slice(20), anyTurn)).toEqual(some.slice(40).map(({ mcSeqno }) => mcSeqno));
      const once = await tableHashes(tested.store);
      expect(await write.write(some, anyTurn)).toEqual([]);
      expect(await tableHashes(tested.store)).toEqual(once);
      expect(once).toEqual(await written(carriage, [some]));
    },
  );

  it('ends with the newest states whatever the order of batches', async () => {
    const batches = [rows.slice(0, 80), rows.slice(80, 160), rows.slice(160)];
    const forward = await written('copy', batches);
    const backward = await written('copy', batches.toReversed());
    expect(backward['latest_account_states']).toEqual(forward['latest_account_states']);
    expect(backward['messages']).toEqual(forward['messages']);
    expect(backward['account_states']).toEqual(forward['account_states']);
  });

  it('lets several write neighbouring blocks at once', async () => {
    const write = writer('copy');
    const batches = Array.from({ length: 12 }, (_, index) => rows.slice(index * 20, index * 20 + 20));
    await Promise.all(batches.map((batch) => write.write(batch, anyTurn)));
    expect(await tableHashes(tested.store)).toEqual(await written('copy', [rows]));
  });

  it('makes the partitions that lts ask for, several writers at once', async () => {
    const far = rows.slice(0, 3).map((one, index) => movedBy(one, BigInt(index) * PARTITION_LTS * 3n));
    const writers = [writer('copy'), writer('unnest', tested.another())];
    await Promise.all(far.map(async (one, index) => writers[index % 2]?.write([one], anyTurn)));
    const partitions = await tested.store.read<{ name: string }>(
      `SELECT relid::regclass::text AS name FROM pg_partition_tree('transactions') WHERE isleaf ORDER BY 1`,
    );
    expect(partitions.map(({ name }) => name)).toEqual(['transactions_0', 'transactions_3', 'transactions_6']);
  });

  it('leaves nothing of a batch whose connection is cut in the middle, and all of it when it is written again', async () => {
    const tables = ['blocks', 'transactions', 'messages', 'latest_account_states', 'traces'];
    const write = writer('copy');
    for (const table of tables) {
      // The backend that reaches this table ends itself.
      await tested.store.transaction(async ({ query }) => {
        await query(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'`);
        await query(`CREATE TRIGGER die AFTER INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION die()`);
      });
      await expect(write.write(rows.slice(0, 30), anyTurn)).rejects.toMatchObject({ code: 'store_unavailable' });
      await tested.store.transaction(({ query }) => query('DROP FUNCTION die CASCADE'));
      const hashes = await tableHashes(tested.store);
      expect(new Set(Object.values(hashes))).toEqual(new Set([nothing]));
    }
    await write.write(rows.slice(0, 30), anyTurn);
    expect(await tableHashes(tested.store)).toEqual(await written('unnest', [rows.slice(0, 30)]));
  });

  it('writes nothing when it is not its turn', async () => {
    const refused = new Error('not yours');
    const turn: WriteTurn = { advance: () => Promise.reject(refused) };
    await expect(writer('unnest').write(rows.slice(0, 2), turn)).rejects.toBe(refused);
    expect((await tableHashes(tested.store))['blocks']).toBe(nothing);
  });
});

/** The same transactions at other lts. */
function movedBy(rows: BlockRows, lts: bigint): BlockRows {
  return {
    ...rows,
    transactions: rows.transactions.map((row) => ({ ...row, lt: row.lt + lts })),
    messages: rows.messages.map((row) => ({ ...row, lt: row.lt + lts })),
  };
}
