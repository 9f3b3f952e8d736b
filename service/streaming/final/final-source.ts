import type { Trouble } from '#service/runtime/retry.ts';
import { createTimeSlice, type TimeSlice } from '#service/runtime/time-slice.ts';
import {
  findOldestBefore,
  findTouchedBlocks,
  findTracesNamed,
  type NamedTrace,
} from '#service/store/queries/final-blocks.ts';
import { accountKey } from '#service/store/account-key.ts';
import { StoreError } from '#service/store/errors.ts';
import type { Store } from '#service/store/store.ts';
import { TRACE_STATE } from '#service/store/trace-plan.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import {
  WHOLE_BLOCK,
  type AccountKey,
  type Change,
  type FinalLog,
  type Labels,
  type Position,
  type Subscription,
  type TraceSnapshot,
} from '../changes.ts';
import { changesFor } from '../concerned.ts';
import { createBlockSource, type BlockSource } from './block-source.ts';
import { createFollower, type Follower, type FollowerDependencies } from './follower.ts';
import { firstPartOf, openBounds, type OpenBounds } from './trace-plan.ts';
import { createLabels, type LabelsDependencies } from './labels.ts';

export type FinalSourceOptions = {
  /** Milliseconds between two looks for a new block while no news of Postgres come; default 200. */
  readonly pollMs?: number;
  /** Seconds of the past from which a resume is possible; default 24 hours. */
  readonly windowS?: () => number;
  /** Bounds of traces that are sent whole. */
  readonly bounds?: OpenBounds;
};

export type FinalSourceDependencies = Pick<LabelsDependencies, 'notes'> &
  Omit<FollowerDependencies, 'reader' | 'blocks'> & {
    readonly store: Pick<Store, 'read' | 'transaction'>;
    readonly network: ActionNetwork;
    /** Calls with the blocks of each classification from now on. Absent: the source looks by itself. */
    readonly listen?: (onClassified: Follower['announce']) => { readonly close: () => Promise<void> };
  };

/** Final changes of the index, and the words about their accounts. */
export type FinalSource = Required<FinalLog> & {
  readonly labels: Labels;
  readonly status: () => FinalSourceStatus;
  readonly close: () => Promise<void>;
};

/** State for `/status` and the health of streams. */
export type FinalSourceStatus = {
  /** Masterchain block up to which changes were given. */
  readonly newestSeqno: number | null;
  /** Unix milliseconds at which that block was seen. */
  readonly seenMs: number | null;
  /** Unix milliseconds of the last answer of the index. */
  readonly lookedMs: number | null;
  /** Failures that are being retried. */
  readonly troubles: readonly Trouble[];
};

const POLL_MS = 200;

const DAY_S = 86_400;

/** Blocks of one look for those that concern a subscription: a quarter of an hour or more. */
const TOUCHED_BLOCKS_MAX = 1000;

/** Milliseconds for which the oldest block of the window counts. */
const OLDEST_MS = 10_000;

/**
 * Follows the blocks that the index has classified, in the order of the masterchain. Changes depend on the index alone, so all pods have the
 * same. While no connection is open, blocks are passed without being read.
 *
 * The newest position moves before `onChanges` is called: a connection that opens during the call begins behind the block.
 */
export function createFinalSource(
  { pollMs = POLL_MS, windowS = () => DAY_S, bounds = openBounds }: FinalSourceOptions,
  { listen, ...dependencies }: FinalSourceDependencies,
): FinalSource {
  const { store, network, notes, logger, clock } = dependencies;
  const closing = new AbortController();
  const { signal } = closing;
  const blocks = createBlockSource({ store, network, bounds, signal });
  const reader = { read: store.read.bind(store), signal };
  let oldest: { readonly seqno: number; readonly atMs: number } | undefined;
  const labels = createLabels({ notes, reader, clock, logger });
  const follower = createFollower(pollMs, {
    ...dependencies,
    reader,
    blocks,
    async onChanges(changes) {
      labels.note(changes);
      await dependencies.onChanges(changes);
    },
  });
  const { newest } = follower;
  const news = listen?.(follower.announce);

  const position = (): Position | null => {
    const mcSeqno = newest();
    return mcSeqno === null ? null : { mcSeqno, index: WHOLE_BLOCK };
  };

  const changesOf = async (mcSeqno: number, caller: AbortSignal): Promise<readonly Change[]> =>
    (await blocks.read(mcSeqno, caller)) ?? [];

  async function partOf({ trace_id: name }: NamedTrace, mcSeqno: number, caller: AbortSignal) {
    const id = Buffer.from(name).toString('hex');
    const changes = await changesOf(mcSeqno, caller);
    return changes.find((one): one is TraceSnapshot => one.kind === 'trace' && one.hashes.includes(id));
  }

  return {
    newest: position,
    changesOf,
    async oldest() {
      const last = newest();
      if (last === null) return null;
      if (oldest === undefined || clock() - oldest.atMs > OLDEST_MS) {
        const seqno = await findOldestBefore(reader, { newest: last, seconds: windowS() });
        // A Postgres that crashed lacks the newest blocks until the indexer writes them again. No cursor is too old then.
        if (seqno === undefined) throw new StoreError('store_unavailable', 'the index lacks its newest block');
        oldest = { seqno, atMs: clock() };
      }
      return oldest.seqno;
    },
    async findTrace(hash, caller) {
      const upTo = newest() ?? 0;
      const named = await findTracesNamed(reader, Buffer.from(hash, 'hex'));
      const ended = named.find(({ state, mc_seqno_end: end }) => state === TRACE_STATE.complete && end <= upTo);
      if (ended !== undefined) return partOf(ended, ended.mc_seqno_end, caller);
      const long = named.find((one) => firstPartOf(one, bounds) <= upTo);
      return long && partOf(long, firstPartOf(long, bounds), caller);
    },
    async touched({ accounts, traces }, { from, to }, caller) {
      const until = Math.min(to, from + TOUCHED_BLOCKS_MAX - 1);
      caller.throwIfAborted();
      const recent = await touchedInMemory(blocks, { accounts, traces }, { from, to: until }, createTimeSlice(caller));
      if (recent !== undefined) return recent;
      const seqnos = await findTouchedBlocks(reader, {
        accounts: [...accounts].map(keyOfAccount),
        traces: [...traces].map((hash) => Buffer.from(hash, 'hex')),
        from,
        to: until,
        openBlocks: bounds.blocks,
        openTransactions: bounds.transactions,
      });
      caller.throwIfAborted();
      return { seqnos, until };
    },
    labels,
    status: () => ({
      newestSeqno: newest(),
      seenMs: follower.seenMs(),
      lookedMs: follower.lookedMs(),
      troubles: follower.troubles(),
    }),
    async close() {
      closing.abort(new Error('the final source is closed'));
      await Promise.all([follower.done, news?.close()]);
    },
  };
}

/**
 * Looks for blocks in the memory, from the first one on: many callers come back at a time, after a minute or less.
 * @returns undefined if the first block is not there
 */
async function touchedInMemory(
  blocks: Pick<BlockSource, 'peek'>,
  wish: Pick<Subscription, 'accounts' | 'traces'>,
  { from, to }: { readonly from: number; readonly to: number },
  slice: TimeSlice,
): Promise<{ readonly seqnos: readonly number[]; readonly until: number } | undefined> {
  const seqnos: number[] = [];
  let next = from;
  for (; next <= to; next++) {
    const rest = slice.pause();
    if (rest !== undefined) await rest;
    const changes = blocks.peek(next);
    if (changes === undefined) break;
    if (changesFor(changes, wish).length > 0) seqnos.push(next);
  }
  return next === from ? undefined : { seqnos, until: next - 1 };
}

/** A subscription may have 10,000 accounts, and the text of their keys is known to be right. */
function keyOfAccount(account: AccountKey): Buffer {
  const [workchain = '', hash = ''] = account.split(':');
  return accountKey({ workchain: Number(workchain), id: Buffer.from(hash, 'hex') });
}
