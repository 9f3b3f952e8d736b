import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { accountKey } from '#service/store/account-key.ts';
import { createInserts } from '#service/store/insert.ts';
import { reviewOlder, type InterpretationChanges } from '#service/store/interpretations.ts';
import { createPartitions } from '#service/store/partitions.ts';
import type { Store } from '#service/store/store.ts';
import { messages, traces, transactions } from '#service/store/tables.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

const [order, log, other] = [0xa7733acd, 0xf0000001, 0x00000007];

/** Blocks by their seqno: opcodes of a transaction of the only trace that ends there, and of its message to outside. */
const ledger: readonly { readonly seqno: number; readonly taken?: number; readonly logged?: number }[] = [
  { seqno: 1, taken: order },
  { seqno: 2, taken: other, logged: log },
  { seqno: 3, taken: other, logged: other },
  { seqno: 4, taken: log },
  { seqno: 5 },
];

let made: StoreUnderTest;
let store: Store;

beforeAll(async () => {
  made = await createMigratedStore(import.meta.filename);
  store = made.store;
  const rows = ledger.map(rowsOf);
  await createPartitions(store).ensure(rows.map(({ transaction }) => transaction.lt));
  await store.transaction(async (session) => {
    const inserts = createInserts(session, 'unnest');
    await inserts.add(
      traces,
      rows.map(({ trace }) => trace),
    );
    await inserts.add(
      transactions,
      rows.map(({ transaction }) => transaction),
    );
    await inserts.add(
      messages,
      rows.flatMap(({ message }) => message ?? []),
    );
  });
});

afterAll(() => made.close());

beforeEach(() =>
  store.transaction(async ({ query }) => {
    await query('TRUNCATE interpretations');
    // The last block has no trace.
    await query(
      'INSERT INTO interpretations (mc_seqno, version, todo) SELECT at, 4, false FROM generate_series(1, 6) at',
    );
  }),
);

function rowsOf({ seqno, taken, logged }: (typeof ledger)[number]) {
  const hash = Buffer.alloc(32, seqno);
  const account = accountKey({ workchain: 0, id: hash });
  const lt = BigInt(seqno) * 1_000_000n;
  const common = { mc_seqno: seqno, workchain: 0, shard: -(2n ** 63n), seqno };
  return {
    trace: {
      trace_id: hash,
      external_hash: null,
      external_hash_norm: null,
      mc_seqno_start: seqno,
      mc_seqno_end: seqno,
      start_lt: lt,
      start_utime: 1,
      end_lt: lt,
      end_utime: 1,
      state: 0,
      pending_edges: 0,
      edges: 1,
      nodes: 1,
    },
    transaction: {
      ...common,
      hash,
      lt,
      account,
      utime: 1,
      trace_id: hash,
      in_msg_hash: null,
      in_opcode: taken === undefined ? null : taken | 0,
      in_body_hash: null,
      boc: Buffer.alloc(0),
    },
    message:
      logged === undefined
        ? undefined
        : {
            hash: Buffer.alloc(32, 100 + seqno),
            lt: lt + 2n,
            hash_norm: null,
            kind: 2,
            source: account,
            destination: null,
            created_lt: lt + 2n,
            created_at: 1,
            opcode: logged | 0,
            body_hash: hash,
          },
  };
}

const review = (changes: InterpretationChanges, blocksMax = 100) => reviewOlder(store, { changes, blocksMax });
const states = () =>
  store.read<{ mc_seqno: number; version: number; todo: boolean }>(
    'SELECT mc_seqno, version, todo FROM interpretations ORDER BY mc_seqno',
    [],
  );
const queued = async () => (await states()).filter(({ todo }) => todo).map(({ mc_seqno }) => mc_seqno);

describe('blocks of an older version', () => {
  it('are queued if a message of their traces has an opcode of the change, to outside too; the others are done', async () => {
    const changes = { newest: 5, whole: 4, partial: [{ version: 5, opcodes: [order, log] }] };
    expect(await review(changes)).toEqual({ queued: 3, passed: 3 });
    expect(await queued()).toEqual([1, 2, 4]);
    expect((await states()).map(({ version }) => version)).toEqual([4, 4, 5, 4, 5, 5]);
    expect(await review(changes)).toEqual({ queued: 0, passed: 0 });
  });

  it('are not queued by a change that they already have', async () => {
    await store.transaction(({ query }) => query('UPDATE interpretations SET version = 5 WHERE mc_seqno = 1'));
    const partial = [
      { version: 5, opcodes: [order] },
      { version: 6, opcodes: [log] },
    ];
    expect(await review({ newest: 6, whole: 4, partial })).toEqual({ queued: 2, passed: 4 });
    expect(await queued()).toEqual([2, 4]);
  });

  it('are all queued by a change that concerns all, in portions, newest first', async () => {
    const changes = { newest: 6, whole: 5, partial: [{ version: 6, opcodes: [order] }] };
    expect(await review(changes, 4)).toEqual({ queued: 4, passed: 0 });
    expect(await queued()).toEqual([3, 4, 5, 6]);
    expect(await review(changes, 4)).toEqual({ queued: 2, passed: 0 });
  });

  it('are left alone while they wait for an interpretation, and when a newer version has done them', async () => {
    await store.transaction(async ({ query }) => {
      await query('UPDATE interpretations SET todo = true WHERE mc_seqno = 3');
      await query('UPDATE interpretations SET version = 9 WHERE mc_seqno = 5');
    });
    expect(await review({ newest: 5, whole: 4, partial: [] })).toEqual({ queued: 0, passed: 4 });
    expect((await states()).map(({ version }) => version)).toEqual([5, 5, 4, 5, 9, 5]);
  });
});
