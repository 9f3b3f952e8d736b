import { accountKey } from './account-key.ts';
import { StoreError } from './errors.ts';
import { hashKey } from './hash-key.ts';
import { createInserts, insertFrom, type InsertMode, type Inserts } from './insert.ts';
import { queueInterpretations, ZEROSTATES_SEQNO } from './interpretations.ts';
import { newestStates } from './newest-states.ts';
import { createPartitions } from './partitions.ts';
import type { Session, Store } from './store.ts';
import {
  accountEdits,
  accountStates,
  blocks,
  codes,
  latestAccountStates,
  messages,
  shardTops,
  transactions,
  type BlockRow,
  type BlockRows,
  type MessageRow,
} from './tables.ts';
import { hintTraces, joinTraces } from './trace-join.ts';
import type { TraceRows } from './trace-rows.ts';

/** Claim to write these blocks: the head's lease, or a range of the past. */
export type WriteTurn = {
  advance(session: Session, from: number, to: number): Promise<void>;
};

export type WriterOptions = {
  /** `unnest` and a durable commit for the head. `copy` for the past: a crash of Postgres reverts its progress together with its rows. */
  readonly carriage: InsertMode;
  /** Traces of masterchain blocks, assembled without the rest of the index. */
  readonly assemble: (rows: readonly BlockRows[]) => TraceRows;
};

export type Writer = {
  /**
   * Writes whole consecutive masterchain blocks in a transaction, queues them for interpretation, and advances the turn. Stored blocks stay
   * unchanged. Tries again after a conflict with another writer.
   *
   * @returns seqnos of the masterchain blocks that were missing
   */
  write(rows: readonly BlockRows[], turn: WriteTurn): Promise<readonly number[]>;
  /**
   * Writes the states of the first masterchain block again, with its zerostates; newer states stay. Needs no turn: a second write has no
   * effect.
   */
  writeZeroStates(first: BlockRows): Promise<void>;
};

/** Two writers meet where their ranges do: more meetings than this in a row are no chance. */
const TRIES_MAX = 8;

export function createWriter({ carriage, assemble }: WriterOptions, store: Store): Writer {
  const partitions = createPartitions(store);

  const writeOnce = (rows: readonly BlockRows[], traces: TraceRows, turn: WriteTurn): Promise<readonly number[]> =>
    store.transaction(
      async (session) => {
        const inserts = createInserts(session, carriage);
        await turn.advance(session, rows[0]?.mcSeqno ?? 0, rows.at(-1)?.mcSeqno ?? 0);
        const missing = await claimBlocks(inserts, rows);
        if (missing.length === 0) return [];
        const isWhole = missing.length === rows.length;
        await writeRows(session, inserts, missing, isWhole ? traces : assemble(missing));
        return missing.map(({ mcSeqno }) => mcSeqno);
      },
      { durable: carriage === 'unnest' },
    );

  return {
    async write(rows, turn) {
      if (rows.length === 0) return [];
      await partitions.ensure(ltsOf(rows));
      const traces = assemble(rows);
      return untilAlone(() => writeOnce(rows, traces, turn));
    },
    writeZeroStates: (first) =>
      untilAlone(() =>
        store.transaction(async (session) => {
          await writeStates(createInserts(session, carriage), [first]);
          await queueInterpretations(session, [ZEROSTATES_SEQNO]);
        }),
      ),
  };
}

/** Again after a meeting with another writer. */
async function untilAlone<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      const isConflict = error instanceof StoreError && error.code === 'write_conflict';
      if (!isConflict || tries === TRIES_MAX) throw error;
    }
  }
}

function* ltsOf(rows: readonly BlockRows[]): Generator<bigint> {
  for (const one of rows) {
    for (const { lt } of one.transactions) yield lt;
    for (const { lt } of one.messages) yield lt;
  }
}

const isMasterchain = ({ workchain }: BlockRow): boolean => workchain === -1;

/** A masterchain block belongs to the writer that inserts its row. Returns the blocks without an earlier row. */
async function claimBlocks(inserts: Inserts, rows: readonly BlockRows[]): Promise<readonly BlockRows[]> {
  const claimed = await inserts.run<{ seqno: number }>(
    blocks,
    rows.flatMap((one) => one.blocks.filter(isMasterchain)),
    (given) => `${insertFrom(blocks, given)} ON CONFLICT DO NOTHING RETURNING seqno`,
  );
  const seqnos = new Set(claimed.map(({ seqno }) => seqno));
  return rows.filter(({ mcSeqno }) => seqnos.has(mcSeqno));
}

async function writeRows(
  session: Session,
  inserts: Inserts,
  rows: readonly BlockRows[],
  traces: TraceRows,
): Promise<void> {
  const hinted = await hintTraces(session, traces);
  const shardBlocks = rows.flatMap((one) => one.blocks.filter((block) => !isMasterchain(block)));
  await inserts.add(blocks, shardBlocks);
  await inserts.add(
    shardTops,
    rows.flatMap((one) => one.shardTops),
  );
  await inserts.add(transactions, hinted.transactions);
  const { own, shared } = splitMessages(rows, traces);
  await inserts.add(messages, own);
  await inserts.addMissing(messages, shared);
  await writeStates(inserts, rows);
  const completed = await joinTraces(session, inserts, hinted);
  const seqnos = rows.map(({ mcSeqno }) => mcSeqno);
  const zeroStates = seqnos.includes(1) ? [ZEROSTATES_SEQNO] : [];
  await queueInterpretations(session, [...zeroStates, ...seqnos, ...completed]);
}

async function writeStates(inserts: Inserts, rows: readonly BlockRows[]): Promise<void> {
  await inserts.addMissing(
    accountStates,
    rows.flatMap((one) => one.accountStates),
  );
  await inserts.addMissing(
    codes,
    rows.flatMap((one) => one.codes),
  );
  await inserts.addMissing(
    accountEdits,
    rows.flatMap((one) => one.accountEdits),
  );
  await inserts.run(latestAccountStates, newestStates(rows.flatMap((one) => one.latestAccountStates)), mergeLatest);
}

/**
 * Separates messages that the index may have: messages with one end in these blocks. Others have both ends, or their only end, here.
 * Messages from the system address have no sender for traces, but a contract may have sent them.
 */
function splitMessages(
  rows: readonly BlockRows[],
  traces: TraceRows,
): { readonly own: readonly MessageRow[]; readonly shared: readonly MessageRow[] } {
  const open = new Set(traces.openEdges.map(({ msg_hash }) => hashKey(msg_hash)));
  const seen = new Set<string>();
  const own: MessageRow[] = [];
  const shared: MessageRow[] = [];
  for (const message of rows.flatMap((one) => one.messages)) {
    const key = hashKey(message.hash);
    // The same external message may be received twice: each receipt is a row.
    const place = message.created_lt === null ? `${key}${message.lt}` : key;
    if (seen.has(place)) continue;
    seen.add(place);
    (open.has(key) || isOfSystem(message) ? shared : own).push(message);
  }
  return { own, shared };
}

const systemAccount = accountKey({ workchain: -1, id: Buffer.alloc(32) });

function isOfSystem({ source }: MessageRow): boolean {
  return source !== null && systemAccount.equals(source);
}

const latestColumns = Object.keys(latestAccountStates.columns).filter((column) => column !== 'account');
const isOfData = (column: string): boolean => column.startsWith('data_boc');

const orderOf = (row: string): string => `coalesce(${row}.changed_lt, ${row}.last_trans_lt)`;
const isNewer = (one: string, other: string): string => `${orderOf(one)} > ${orderOf(other)}`;
const hasNewerData = (one: string, other: string): string =>
  `coalesce(${one}.data_boc_lt, -1) > coalesce(${other}.data_boc_lt, -1)`;
const brings = (one: string, other: string): string => `(${isNewer(one, other)} OR ${hasNewerData(one, other)})`;

/** The newest state wins, and separately the newest whole data. Rows with neither are not written at all: most of the past. */
function mergeLatest(given: string): string {
  const sets = latestColumns.map((column) => {
    const condition = isOfData(column) ? hasNewerData('excluded', 'stored') : isNewer('excluded', 'stored');
    return `${column} = CASE WHEN ${condition} THEN excluded.${column} ELSE stored.${column} END`;
  });
  // A question for each row: as a join, the whole table would be read.
  const known = `(SELECT ${brings('given', 'old')} FROM latest_account_states old WHERE old.account = given.account)`;
  return `${insertFrom(latestAccountStates, `${given} WHERE ${known} IS NOT FALSE`)}
    ON CONFLICT (account) DO UPDATE SET ${sets.join(', ')} WHERE ${brings('excluded', 'stored')}`;
}
