import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import type { BlockRow, BlockRows, TransactionLinks } from '#service/store/tables.ts';

/** A transaction of a made-up network: what took it in, and what it sends that somebody else may take. */
type Node = {
  /** Of an earlier transaction, whose message it takes; else what `cause` says. */
  readonly parent: number;
  readonly cause: 'parent' | 'external' | 'system' | 'none' | 'unknown';
  /** Messages that nobody takes. */
  readonly lost: number;
  readonly logs: number;
  readonly account: number;
  /** Masterchain blocks that pass before it. */
  readonly delay: number;
};

const node: fc.Arbitrary<Node> = fc.record({
  parent: fc.nat(),
  cause: fc.oneof(
    { weight: 12, arbitrary: fc.constant('parent' as const) },
    { weight: 2, arbitrary: fc.constant('external' as const) },
    { weight: 1, arbitrary: fc.constantFrom('system' as const, 'none' as const, 'unknown' as const) },
  ),
  lost: fc.constantFrom(0, 0, 0, 0, 1, 2),
  logs: fc.constantFrom(0, 0, 0, 1, 2),
  account: fc.nat({ max: 6 }),
  delay: fc.constantFrom(0, 0, 1, 1, 2, 5),
});

const MASTERCHAIN_BLOCKS = 12;

/** Rows of twelve masterchain blocks over which messages go from transaction to transaction. */
export const messageGraph: fc.Arbitrary<BlockRows[]> = fc
  .array(node, { minLength: 1, maxLength: 60 })
  .map((nodes) => blocksOf(nodes));

/** Cuts blocks into batches of neighbours, and shuffles the batches. */
export function shuffledBatches(blocks: readonly BlockRows[]): fc.Arbitrary<BlockRows[][]> {
  return fc.array(fc.boolean(), { minLength: blocks.length, maxLength: blocks.length }).chain((cuts) => {
    const batches: BlockRows[][] = [];
    blocks.forEach((block, index) => {
      if (index === 0 || cuts[index] === true) batches.push([]);
      batches.at(-1)!.push(block);
    });
    return fc.shuffledSubarray(batches, { minLength: batches.length });
  });
}

export function madeHash(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

type Made = { readonly row: BlockRows['transactions'][number]; readonly links: TransactionLinks };

function blocksOf(nodes: readonly Node[]): BlockRows[] {
  const seqnos: number[] = [];
  const sent: Buffer[][] = nodes.map(() => []);
  const inMessages: (Buffer | null)[] = [];
  const causes: TransactionLinks['cause'][] = [];
  nodes.forEach(({ parent, cause, lost, delay }, index) => {
    for (let count = 0; count < lost; count++) sent[index]!.push(madeHash(`lost ${index} ${count}`));
    const message = madeHash(`message ${index}`);
    const above = index === 0 ? 0 : parent % index;
    const isTaken = cause === 'parent' && index > 0;
    if (isTaken) sent[above]!.push(message);
    inMessages.push(cause === 'none' ? null : message);
    causes.push(isTaken || cause === 'unknown' || cause === 'parent' ? 'internal' : cause);
    seqnos.push(Math.min(MASTERCHAIN_BLOCKS, (isTaken ? seqnos[above]! : 1 + (index % 7)) + delay));
  });
  const made = nodes.map(({ account, logs }, index): Made => {
    const mcSeqno = seqnos[index]!;
    const inHash = inMessages[index]!;
    return {
      row: {
        hash: madeHash(`transaction ${index}`),
        lt: BigInt(10 * (index + 1)),
        account: Buffer.concat([Buffer.of(128), madeHash(`account ${account}`)]),
        utime: 1000 + mcSeqno,
        mc_seqno: mcSeqno,
        workchain: 0,
        shard: -(1n << 63n),
        seqno: mcSeqno,
        in_msg_hash: inHash,
        in_opcode: null,
        in_body_hash: null,
        boc: Buffer.from('b5ee', 'hex'),
      },
      links: {
        cause: causes[index]!,
        externalHashNorm: causes[index] === 'external' ? madeHash(`norm ${index}`) : null,
        sent: sent[index]!,
        logs,
      },
    };
  });
  return Array.from({ length: MASTERCHAIN_BLOCKS }, (_, index) =>
    rowsOfBlock(
      index + 1,
      made.filter(({ row }) => row.mc_seqno === index + 1),
    ),
  );
}

function rowsOfBlock(mcSeqno: number, made: readonly Made[]): BlockRows {
  return {
    mcSeqno,
    blocks: [blockRow(mcSeqno)],
    shardTops: [],
    transactions: made.map(({ row }) => row),
    links: made.map(({ links }) => links),
    messages: [],
    accountStates: [],
    latestAccountStates: [],
    accountEdits: [],
    codes: [],
  };
}

/** Of a masterchain block: what a writer claims. */
function blockRow(seqno: number): BlockRow {
  const none = Buffer.alloc(32);
  return {
    workchain: -1,
    shard: -(1n << 63n),
    seqno,
    mc_seqno: seqno,
    root_hash: madeHash(`block ${seqno}`),
    file_hash: none,
    gen_utime: 1000 + seqno,
    start_lt: BigInt(seqno),
    end_lt: BigInt(seqno),
    tx_count: 0,
    global_id: 0,
    version: 0,
    flags: 0,
    vert_seqno: 0,
    vert_seqno_incr: false,
    after_merge: false,
    before_split: false,
    after_split: false,
    want_merge: false,
    want_split: false,
    key_block: false,
    validator_list_hash_short: 0,
    gen_catchain_seqno: 0,
    min_ref_mc_seqno: 0,
    prev_key_block_seqno: 0,
    master_ref_seqno: 0,
    rand_seed: none,
    created_by: none,
    software_version: null,
    global_version: null,
    prev_shard: -(1n << 63n),
    prev_seqno: seqno - 1,
    prev_shard_2: null,
    prev_seqno_2: null,
  };
}
