import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { LiteServer, QueryOptions } from '../liteserver/liteserver.ts';
import type { LiteServerOptions } from '../liteserver/options.ts';
import type { ProofMetrics } from '../proof/metrics.ts';
import { createConsensusHeads, type ConsensusHeads } from './consensus-heads.ts';
import { createPicker } from './lite-server-picker.ts';
import { createBroadcast } from './broadcast.ts';
import type { Broadcast } from './broadcast.ts';
import { createHeadCatchUp } from './head-catch-up.ts';
import { createMonotonicHeads } from './monotonic-heads.ts';
import type { MonotonicHeads } from './monotonic-heads.ts';
import { createHeadWaiters } from './head-waiters.ts';
import type { HeadWaiters } from './head-waiters.ts';
import type { Head, Tip } from './head.ts';
import { createHeadKeeper } from './head-keeper.ts';
import { createHeadProver } from './head-prover.ts';
import type { HeadProver, HeadProverDependencies } from './head-prover.ts';
import { createHeadTimes } from './head-times.ts';
import type { Member } from './member.ts';
import { readingOf, statusOf } from './member-status.ts';
import type { LiteServerStatus } from './member-status.ts';
import { createPoolMetrics } from './metrics.ts';
import type { MemberReading } from './metrics.ts';
import { tuningDefaults } from './options.ts';
import type { PoolLiteServer, PoolOptions } from './options.ts';
import { createReads } from './reads.ts';
import type { PoolContext, Reads } from './reads.ts';
import { connectShared } from './redis/pool-redis.ts';
import type { PoolRedis } from './redis/pool-redis.ts';
import { createRoster } from './roster.ts';
import { isUsable } from './selection.ts';
import { hasNewest } from './slices.ts';
import { createAdmissionQueue } from './admission-queue.ts';

/** Several lite servers as one: a served head, and reads that one bad lite server cannot spoil. */
export type Pool = {
  /** Returns the served masterchain head; undefined before the first. Its seqno never decreases. */
  head(): Head | undefined;
  /**
   * Returns the head to answer a caller at. The head is newer than the served one if the caller (`context.caller`) has seen a newer block at another
   * pod. Rejects with PoolError `no_lite_server` before the first head, `behind` when no block that new comes in time.
   */
  readonly headFor: MonotonicHeads['headFor'];
  /** Records a block that a caller has seen, like `MonotonicHeads.saw`. Does nothing under trust `none`, where a block is not proved. */
  readonly saw: MonotonicHeads['saw'];
  /** Resolves when the head has the seqno, when `waitMs` are over or when the signal is aborted. The caller checks which. */
  readonly whenServed: HeadWaiters['wait'];
  /**
   * Returns the newest masterchain seqno, at or below the head, that 60 % of the lite servers have. It is never older than the caller has seen at any
   * pod. Rejects like `headFor`.
   */
  readonly consensusFor: ConsensusHeads['consensusFor'];
  /**
   * Asks lite servers until one gives a good answer. Rejects with PoolError (`no_lite_server`, `deadline`, `aborted`, `closed`). Otherwise it rejects
   * with the most informative LiteServerError or ProofError.
   */
  readonly query: Reads['query'];
  /** Sends an external message to several lite servers at once; the first that accepts it decides. */
  readonly broadcast: Broadcast;
  readonly accept: HeadProver['accept'];
  /**
   * Sends the bytes of a TL function to a lite server and returns the bytes of its answer, unchecked. For tools with their own checks, such as
   * ton-lite-client's LiteClient over `createLiteEngine`. HTTP must never reach it.
   */
  queryBytes(request: Buffer, options: QueryOptions): Promise<Buffer>;
  /**
   * Replaces the lite servers in use without dropping a read. Added servers are followed at once, removed servers finish their reads. Other servers
   * stay as measured and get their new weight, cordon and bound.
   */
  readonly reconfigure: (liteServers: readonly PoolLiteServer[]) => void;
  /** Shares floors and answers with other pods over new connections of this kind. Does nothing if the pool shares nothing. */
  readonly setSharedConnect: (connect: PoolRedis['connect']) => void;
  status(): LiteServerStatus[];
  /** Returns true when there is a head to serve and a lite server to ask. */
  ready(): boolean;
  /** Settles all work in progress with PoolError `closed` and ends all connections. */
  close(): Promise<void>;
};

export type PoolDependencies = {
  readonly createLiteServer: (liteServer: LiteServerOptions) => LiteServer;
  /** Creates the trust chain over the pool's own lite servers; not called under trust `none`. The pool closes it. */
  readonly createTrustChain: HeadProverDependencies['createTrustChain'];
  readonly logger: Logger;
  readonly register: Registry;
  readonly proofs: ProofMetrics;
  readonly tracer: Tracer;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
  /** 0..1. */
  readonly random: () => number;
  /** Redis that the pods of the API share; absent when this pod is alone. */
  readonly shared?: PoolRedis | undefined;
};

/** Connects to the lite servers and follows their heads at once. `ready()` turns true when the first head is accepted. */
export function createPool(options: PoolOptions, dependencies: PoolDependencies): Pool {
  const tuning = { ...tuningDefaults, ...options.tuning };
  const { logger, now, random } = dependencies;
  let closed = false;
  const metrics = createPoolMetrics(dependencies.register, {
    headSeqno: () => headSeqno(),
    redisAway: () => (shared === undefined || shared.isHere() ? 0 : 1),
    headUtime: () => keeper.head()?.utime ?? 0,
    usable: () => members.filter((member) => isUsable(member.candidate())).length,
    rejected: () => members.filter((member) => member.health().phase === 'rejected').length,
    cacheBytes: () => reads.cacheBytes(),
    waiters: () => line.length(),
    members: () => members.map(reading),
  });
  const headTimes = createHeadTimes({ now });
  const headSeqno = (): number => keeper.head()?.block.seqno ?? 0;
  const waiters = createHeadWaiters(headSeqno);
  const shared =
    dependencies.shared &&
    connectShared(
      {
        ...dependencies.shared,
        zeroState: options.zeroState,
        keptMs: tuning.floorKeptMs,
        answerMs: tuning.sharedAnswerMs,
      },
      { logger, headSeqno, onMalformed: () => metrics.malformed() },
    );
  const line = createAdmissionQueue(
    { waitersMax: tuning.waitersMax, waitMsMax: tuning.waiterMsMax },
    { now, onWaited: (seconds) => metrics.waited(seconds), onShed: (reason) => metrics.shed(reason) },
  );
  const roster = createRoster(
    { liteServers: options.liteServers, zeroState: options.zeroState, tuning },
    { createLiteServer: dependencies.createLiteServer, metrics, logger, onRoom: line.offer, now, random },
  );
  const { members, onMissing } = roster;
  const { tracer, proofs } = dependencies;
  // Answers from a shared store, where others write, are used only if they are proved.
  const sharedAnswers = options.trust === 'verified' ? shared?.answers : undefined;
  const choice = createPicker({ members, headSeqno, now, random });
  const reads = createReads(tuning, { members, metrics, proofs, tracer, choice, line, onMissing, sharedAnswers, now });
  const floorsOptions = {
    callersMax: tuning.floorCallersMax,
    refreshMs: tuning.floorKeptMs / 4,
    waitMs: tuning.floorWaitMs,
  };
  const proved = (): Head | undefined => keeper.head();
  const unixMs = (): number => performance.timeOrigin + now();
  const floors = createMonotonicHeads(floorsOptions, {
    head: proved,
    proved,
    whenServed: waiters.wait,
    findAhead: createHeadCatchUp({ timeoutMs: tuning.proveTimeoutMs }, { members, prove: proveAndAnnounce, now }),
    shared: shared?.floors,
    now,
    unixMs,
  });
  const consensus = createConsensusHeads(floorsOptions, {
    members,
    head: proved,
    shared: shared?.floors,
    now,
    unixMs,
  });
  const isClosed = (): boolean => closed;
  const broadcast = createBroadcast(tuning, { members, metrics, tracer, isClosed, choice, line, now });
  const prover = createHeadProver(
    { trust: options.trust, zeroState: options.zeroState },
    { reads, createTrustChain: dependencies.createTrustChain, now },
  );
  const keeper = createHeadKeeper(
    { unproved: options.trust === 'none', tuning },
    {
      members,
      prove: prover.prove,
      announce: shared && ((seqno) => shared.floors.announce(seqno)),
      onHead,
      metrics,
      logger,
      now,
    },
  );
  roster.start(() => {
    keeper.consider();
    consensus.consider();
  });

  /** Proves a block above the served head and announces it, for callers who get answers at it. Other pods must know the block first. */
  async function proveAndAnnounce(tip: Tip, context: PoolContext): Promise<Head> {
    const head = await prover.prove(tip, context);
    await shared?.floors.announce(head.block.seqno);
    return head;
  }

  function onHead(): void {
    headTimes.add(headSeqno());
    waiters.moved(headSeqno());
    consensus.consider();
  }

  function reading(member: Member): MemberReading {
    return readingOf(member, keeper.head()?.block.seqno, headTimes);
  }

  return {
    head: keeper.head,
    headFor: floors.headFor,
    saw: options.trust === 'none' ? () => undefined : floors.saw,
    whenServed: waiters.wait,
    consensusFor: consensus.consensusFor,
    query: reads.query,
    broadcast,
    queryBytes: reads.queryBytes,
    accept: prover.accept,
    reconfigure: roster.replace,
    setSharedConnect: (connect) => shared?.setConnect(connect),
    status: () => members.map((member) => statusOf(member, reading(member))),
    ready: () => !closed && keeper.head() !== undefined && members.some(canServeHead),
    async close() {
      closed = true;
      reads.close();
      line.close();
      await Promise.all([roster.close(), keeper.close(), prover.close()]);
      shared?.close();
      logger.info({ liteServers: members.length }, 'pool closed');
    },
  };
}

/** Reports whether a server gets reads and has the newest blocks. Some part of the past alone is no service. */
function canServeHead(member: Member): boolean {
  return isUsable(member.candidate()) && hasNewest(member.use().slices);
}
