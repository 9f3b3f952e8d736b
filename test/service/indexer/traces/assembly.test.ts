import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import type { BlockRows, TransactionLinks } from '#service/store/tables.ts';
import type { TraceRows } from '#service/store/trace-rows.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { recordedBlocks } from '../recorded-blocks.ts';
import type { PlainTransaction } from '../rows/core-rows.ts';
import { coreTransactions, plainAccount } from '../rows/core-rows.ts';
import { madeHash } from './message-graphs.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

type Placed = PlainTransaction & { readonly mcSeqno: number };

/** Traces by walking down from each root: the slow and plain way. */
function naiveTraces(all: readonly Placed[]) {
  const takenBy = new Map(all.flatMap((one) => (one.in ? [[one.in.hash, one] as const] : [])));
  const sent = new Set(all.flatMap(({ out }) => out.map(({ hash }) => hash)));
  const roots = all.filter((one) => one.in === undefined || one.in.kind === 0 || !sent.has(one.in.hash));
  return roots.map((root) => {
    const members: Placed[] = [];
    const visit = (one: Placed): void => {
      members.push(one);
      for (const { hash, kind } of one.out) {
        const next = kind === 1 ? takenBy.get(hash) : undefined;
        if (next !== undefined) visit(next);
      }
    };
    visit(root);
    const out = members.flatMap((one) => one.out);
    const pending = out.filter(({ kind, hash }) => kind === 1 && !takenBy.has(hash)).length;
    return {
      trace_id: root.hash,
      external_hash: root.in?.hash ?? null,
      external_hash_norm: root.in?.kind === 0 ? (root.in.hash_norm ?? root.in.hash) : null,
      mc_seqno_start: root.mcSeqno,
      mc_seqno_end: Math.max(...members.map(({ mcSeqno }) => mcSeqno)),
      start_lt: root.lt,
      start_utime: root.utime,
      end_lt: members.map(({ lt }) => lt).reduce((one, other) => (one > other ? one : other)),
      end_utime: Math.max(...members.map(({ utime }) => utime)),
      state: pending === 0 ? 0 : 1,
      pending_edges: pending,
      edges: members.filter((one) => one.in).length + out.filter(({ kind }) => kind === 2).length,
      nodes: members.length,
      accounts: [...new Set(members.map(({ account }) => account))].toSorted(),
      members: members.map(({ hash }) => hash).toSorted(),
    };
  });
}

/** The same form. */
function plainTraces({ traces, traceAccounts, transactions }: TraceRows): ReturnType<typeof naiveTraces> {
  const accounts = Map.groupBy(traceAccounts, ({ trace_id }) => hex(trace_id));
  const members = Map.groupBy(transactions, ({ trace_id }) => hex(trace_id));
  return traces.map((row) => ({
    ...row,
    trace_id: hex(row.trace_id),
    external_hash: row.external_hash && hex(row.external_hash),
    external_hash_norm: row.external_hash_norm && hex(row.external_hash_norm),
    accounts: accounts
      .get(hex(row.trace_id))!
      .map(({ account }) => plainAccount(account))
      .toSorted(),
    members: members
      .get(hex(row.trace_id))!
      .map(({ hash }) => hex(hash))
      .toSorted(),
    state: row.state as 0 | 1,
  }));
}

const byId = (one: { trace_id: string }, other: { trace_id: string }): number =>
  one.trace_id < other.trace_id ? -1 : 1;

describe('traces of the recorded chain', () => {
  let rows: BlockRows[];
  let expected: ReturnType<typeof naiveTraces>;

  beforeAll(async () => {
    const blocks = await recordedBlocks();
    rows = blocks.map(rowsOf);
    expected = naiveTraces(
      blocks.flatMap((source) => coreTransactions(source).map((one) => ({ ...one, mcSeqno: source.mcSeqno }))),
    );
  });

  it('are those of a plain walk with @ton/core', () => {
    const found = assembleTraces(rows);
    expect(plainTraces(found).toSorted(byId)).toEqual(expected.toSorted(byId));
    expect(found.transactions).toHaveLength(6475);
    expect(Math.max(...found.traces.map(({ nodes }) => nodes))).toBeGreaterThan(5);
  });

  it('keep one end of each message that is on its way', () => {
    const found = assembleTraces(rows);
    expect(found.openEdges.every(({ produced }) => produced)).toBe(true);
    expect(found.openEdges).toHaveLength(expected.reduce((sum, { pending_edges }) => sum + pending_edges, 0));
  });

  it('are broken wherever the chain is cut, until both parts meet', () => {
    let brokenCount = 0;
    for (let cut = 20; cut < rows.length; cut += 20) {
      const [early, late] = [assembleTraces(rows.slice(0, cut)), assembleTraces(rows.slice(cut))];
      const broken = late.traces.filter(({ state }) => state === 2);
      const taken = late.openEdges.filter(({ produced }) => !produced).map(({ msg_hash }) => hex(msg_hash));
      expect(taken).toHaveLength(broken.length);
      const sent = new Set(early.openEdges.map(({ msg_hash }) => hex(msg_hash)));
      expect(taken.every((hash) => sent.has(hash))).toBe(true);
      brokenCount += broken.length;
    }
    expect(brokenCount).toBeGreaterThan(0);
  });
});

type FixtureMessage = { msg_hash: string; direction: 'in' | 'out'; source: string | null; destination: string | null };
type FixtureTransaction = {
  hash: string;
  lt: string;
  account: string;
  now: number;
  mc_block_seqno: number;
  messages: FixtureMessage[];
};
type Fixture = {
  trace: Record<string, unknown> & { trace_id: string; external_hash: string };
  transactions: FixtureTransaction[];
};

const fixtures = fixtureFiles(/\/mainnet-traces\/(?!index)[^/]*\.json$/);

describe.skipIf(skipLoudly(fixtures.length === 0, { what: 'mainnet traces', why: 'no fixtures' }))(
  'mainnet traces (from the shared fixtures)',
  () => {
    it.each(fixtures.map((file) => ({ name: basename(file), file })))(
      '$name has the counters that the reference gives',
      ({ file }) => {
        const { trace, transactions } = JSON.parse(readFileSync(file, 'utf8')) as Fixture;
        const { traces, openEdges } = assembleTraces(fixtureBlocks(transactions));
        expect(openEdges).toEqual([]);
        expect(traces.map(referenceForm)).toEqual([
          Object.fromEntries(Object.keys(referenceForm(traces[0]!)).map((key) => [key, trace[key]])),
        ]);
      },
    );
  },
);

function referenceForm(row: TraceRows['traces'][number]) {
  return {
    trace_id: Buffer.from(row.trace_id).toString('base64'),
    external_hash: row.external_hash && Buffer.from(row.external_hash).toString('base64'),
    mc_seqno_start: row.mc_seqno_start,
    mc_seqno_end: row.mc_seqno_end,
    start_lt: `${row.start_lt}`,
    start_utime: row.start_utime,
    end_lt: `${row.end_lt}`,
    end_utime: row.end_utime,
    state: ['complete', 'pending', 'broken'][row.state],
    pending_edges_: row.pending_edges,
    edges_: row.edges,
    nodes_: row.nodes,
  };
}

function fixtureBlocks(transactions: readonly FixtureTransaction[]): BlockRows[] {
  return [...Map.groupBy(transactions, ({ mc_block_seqno }) => mc_block_seqno)].map(([mcSeqno, list]) => ({
    mcSeqno,
    blocks: [],
    shardTops: [],
    transactions: list.map((one) => ({
      hash: Buffer.from(one.hash, 'base64'),
      lt: BigInt(one.lt),
      account: madeHash(one.account),
      utime: one.now,
      mc_seqno: mcSeqno,
      workchain: 0,
      shard: 0n,
      seqno: 1,
      in_msg_hash: inMessageOf(one) ? Buffer.from(inMessageOf(one)!.msg_hash, 'base64') : null,
      in_opcode: null,
      in_body_hash: null,
      boc: Buffer.alloc(0),
    })),
    links: list.map(fixtureLinks),
    messages: [],
    accountStates: [],
    latestAccountStates: [],
    accountEdits: [],
    codes: [],
  }));
}

function inMessageOf({ messages }: FixtureTransaction): FixtureMessage | undefined {
  return messages.find(({ direction }) => direction === 'in');
}

function fixtureLinks(one: FixtureTransaction): TransactionLinks {
  const taken = inMessageOf(one);
  const out = one.messages.filter(({ direction }) => direction === 'out');
  const cause = taken === undefined ? 'none' : taken.source === null ? 'external' : 'internal';
  return {
    cause,
    externalHashNorm: null,
    sent: out.filter(({ destination }) => destination !== null).map(({ msg_hash }) => Buffer.from(msg_hash, 'base64')),
    logs: out.filter(({ destination }) => destination === null).length,
  };
}
