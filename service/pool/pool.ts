import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { BlockId } from '../decode/block-id.ts';
import { getBlockHeader, getBlockProof } from '../liteserver/functions.ts';
import type { LiteServer, QueryOptions } from '../liteserver/liteserver.ts';
import type { LiteServerOptions } from '../liteserver/options.ts';
import type { PartialBlockProof } from '../proof/answers.ts';
import type { BlockProofRequest, TrustChain, TrustChainDependencies } from '../proof/trust-chain.ts';
import type { ProofMetrics } from '../proof/metrics.ts';
import { createConsensusKeeper } from './consensus.ts';
import type { Consensus } from './consensus.ts';
import type { Depth } from './depth.ts';
import { depthKinds } from './depth.ts';
import type { Role, Tier } from './read-access.ts';
import { createPicker } from './lite-server-picker.ts';
import { createBroadcast } from './broadcast.ts';
import type { Broadcast } from './broadcast.ts';
import { createHeadCatchUp } from './head-catch-up.ts';
import { abandonment, PoolError } from './errors.ts';
import { createMonotonicHeads, scopeFloors } from './monotonic-heads.ts';
import type { MonotonicHeads } from './monotonic-heads.ts';
import { createHeadWaiters } from './head-waiters.ts';
import type { HeadWaiters } from './head-waiters.ts';
import type { Head, Tip } from './head.ts';
import { createHeadKeeper } from './head-keeper.ts';
import { checkHeadHeader } from './head-proof.ts';
import { createHeadTimes } from './head-times.ts';
import type { Health } from './health.ts';
import type { Member } from './member.ts';
import { methodClasses } from './method-class.ts';
import { createPoolMetrics } from './metrics.ts';
import type { MemberReading } from './metrics.ts';
import { tuningDefaults } from './options.ts';
import type { PoolLiteServer, PoolOptions } from './options.ts';
import { createReads } from './reads.ts';
import type { PoolContext, Reads } from './reads.ts';
import type { RecentError } from './recent-errors.ts';
import { connectShared } from './redis/pool-redis.ts';
import type { PoolRedis } from './redis/pool-redis.ts';
import { createRoster } from './roster.ts';
import { isUsable, lagBlocks } from './selection.ts';
import { hasNewest } from './slices.ts';
import { createAdmissionQueue } from './admission-queue.ts';

/** Bits of getBlockProof's mode (service/liteserver/README.md#mode-bits): the target is given; the chain is based on the newer of both blocks. */
const GIVEN_TARGET = 0x1;
const FROM_NEWER = 0x1000;

/** Bit of getBlockHeader's mode: include the state update, whose new hash is the state after the block. */
const WITH_STATE_UPDATE = 0x1;

/** Several lite servers as one: a served head, and reads that one bad lite server cannot spoil. */
export type Pool = {
  /** Returns the served masterchain head; undefined before the first. Its seqno never decreases. */
  head(): Head | undefined;
  /**
   * Returns the head to answer a caller at. The head is newer than the served one if the caller (`context.caller`) has seen a newer block at another
   * pod. Rejects with PoolError `no_lite_server` before the first head, `behind` when no block that new comes in time.
   */
  readonly headFor: MonotonicHeads['headFor'];
  /** Records a block that a caller has seen, like `Floors.saw`. Does nothing under trust `none`, where a block is not proved. */
  readonly saw: MonotonicHeads['saw'];
  /** Resolves when the head has the seqno, when `waitMs` are over or when the signal is aborted. The caller checks which. */
  readonly whenServed: HeadWaiters['wait'];
  /**
   * Returns the newest masterchain seqno, at or below the head, that 60 % of the lite servers have. It is never older than the caller has seen at any
   * pod. Rejects like `headFor`.
   */
  consensusFor(context: PoolContext): Promise<Consensus>;
  /**
   * Asks lite servers until one gives a good answer. Rejects with PoolError (`no_lite_server`, `deadline`, `aborted`, `closed`). Otherwise it rejects
   * with the most informative LiteServerError or ProofError.
   */
  readonly query: Reads['query'];
  /** Sends an external message to several lite servers at once; the first that accepts it decides. */
  readonly broadcast: Broadcast;
  /**
   * Resolves when the masterchain block is accepted by the trust chain; at once under trust `none`. Rejects with ProofError when it is no block of
   * the network, else like `query`.
   */
  accept(block: BlockId, context: PoolContext): Promise<void>;
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

/** Lite server on the status page. */
export type LiteServerStatus = {
  readonly index: number;
  readonly name: string;
  readonly phase: Health['phase'];
  readonly cause: Health['cause'];
  readonly connected: boolean;
  /** Newest masterchain seqno it reported. */
  readonly tipSeqno: number | undefined;
  /** Masterchain blocks behind the served head. */
  readonly lagBlocks: number;
  /** Seconds for which the oldest block that it lacks has been served. */
  readonly lagSeconds: number;
  /** Milliseconds in which 70 % of its recent answers of each method class came; absent without answers. */
  readonly p70Ms: Readonly<Record<string, number | undefined>>;
  /** Oldest positions at which it has blocks and states; absent until measured. */
  readonly depth: Depth;
  readonly inFlight: number;
  /** Current limit of reads in flight. */
  readonly inFlightLimit: number;
  /** Check that its last misbehaviour failed; absent without misbehaviour. */
  readonly lastMisbehaviour: string | undefined;
  readonly tier: Tier;
  readonly role: Role;
  readonly weight: number;
  readonly misbehaviours: number;
  /** Last errors, newest first. A refusal that every other server would repeat is not listed. */
  readonly recentErrors: readonly RecentError[];
  readonly cordoned: boolean;
};

export type PoolDependencies = {
  readonly createLiteServer: (liteServer: LiteServerOptions) => LiteServer;
  /** Creates the trust chain over the pool's own lite servers; not called under trust `none`. The pool closes it. */
  readonly createTrustChain: (fetchProof: TrustChainDependencies['fetchProof']) => TrustChain;
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
    members: () => members.map(readingOf),
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
  const agreed = (): Consensus | undefined => agreement.consensus();
  const agreeing = createHeadWaiters(() => agreed()?.seqno ?? 0);
  const consensusFloors = createMonotonicHeads(floorsOptions, {
    head: () => {
      const consensus = agreed();
      return consensus && { consensus, block: consensus };
    },
    proved,
    whenServed: agreeing.wait,
    // The consensus of most lite servers cannot be taken from a single one.
    findAhead: () => Promise.resolve(undefined),
    shared: shared && scopeFloors(shared.floors, 'consensus'),
    now,
    unixMs,
  });
  const isClosed = (): boolean => closed;
  const broadcast = createBroadcast(tuning, { members, metrics, tracer, isClosed, choice, line, now });
  const trustChain = options.trust === 'none' ? undefined : dependencies.createTrustChain(fetchProof);
  const keeper = createHeadKeeper(
    { unproved: options.trust === 'none', tuning },
    { members, prove, announce: shared && ((seqno) => shared.floors.announce(seqno)), onHead, metrics, logger, now },
  );
  const agreement = createConsensusKeeper({ members, head: keeper.head, now });
  roster.start(() => {
    keeper.consider();
    agree();
  });

  function agree(): void {
    agreement.consider();
    agreeing.moved(agreed()?.seqno ?? 0);
  }

  function fetchProof<T>(
    { known, target }: BlockProofRequest,
    check: (answer: PartialBlockProof) => Promise<T>,
    context: PoolContext,
  ): Promise<T> {
    const args = { mode: GIVEN_TARGET | FROM_NEWER, knownBlock: known, targetBlock: target };
    return reads
      .query(getBlockProof, args, context, { check, masterchainSeqno: Math.max(known.seqno, target.seqno) })
      .then(({ value }) => value);
  }

  async function accept(block: BlockId, context: PoolContext): Promise<void> {
    if (closed) throw new PoolError('closed');
    if (trustChain === undefined || trustChain.isAccepted(block)) return;
    const signal = AbortSignal.any([
      context.signal,
      AbortSignal.timeout(Math.max(0, Math.ceil(context.deadlineMs - now()))),
    ]);
    try {
      await trustChain.accept(block, { ...context, signal });
    } catch (error) {
      throw signal.aborted ? abandonment(signal) : error;
    }
  }

  /** Proves a block. The header is checked under every trust setting: it is cheap and gives the time and the state hash. */
  async function prove({ block }: Tip, context: PoolContext): Promise<Head> {
    const [header] = await Promise.all([
      reads.query(getBlockHeader, { id: block, mode: WITH_STATE_UPDATE }, context, {
        check: (answer) => checkHeadHeader(block, answer),
        masterchainSeqno: block.seqno,
      }),
      accept(block, context),
    ]);
    return { ...header.value, init: options.zeroState };
  }

  /** Proves a block above the served head and announces it, for callers who get answers at it. Other pods must know the block first. */
  async function proveAndAnnounce(tip: Tip, context: PoolContext): Promise<Head> {
    const head = await prove(tip, context);
    await shared?.floors.announce(head.block.seqno);
    return head;
  }

  function onHead(): void {
    headTimes.add(headSeqno());
    waiters.moved(headSeqno());
    agree();
  }

  function readingOf(member: Member): MemberReading {
    const p70Seconds = methodClasses.flatMap((methodClass) => {
      const { p70Ms } = member.score(methodClass);
      return p70Ms === undefined ? [] : [{ methodClass, seconds: p70Ms / 1000 }];
    });
    return {
      name: member.name,
      lagBlocks: lagOf(member),
      lagSeconds: lagSecondsOf(member),
      p70Seconds,
      oldest: oldestOf(member),
      inFlight: member.inFlight(),
      inFlightLimit: member.inFlightLimit(),
    };
  }

  function lagSecondsOf(member: Member): number {
    return headTimes.lagMs(member.tip()?.block.seqno ?? 0) / 1000;
  }

  function lagOf(member: Member): number {
    return lagBlocks(member.candidate(), keeper.head()?.block.seqno);
  }

  return {
    head: keeper.head,
    headFor: floors.headFor,
    saw: options.trust === 'none' ? () => undefined : floors.saw,
    whenServed: waiters.wait,
    consensusFor: async (context) => (await consensusFloors.headFor(context)).consensus,
    query: reads.query,
    broadcast,
    queryBytes: reads.queryBytes,
    accept,
    reconfigure: roster.replace,
    setSharedConnect: (connect) => shared?.setConnect(connect),
    status: () => members.map((member) => statusOf(member, readingOf(member))),
    ready: () => !closed && keeper.head() !== undefined && members.some(canServeHead),
    async close() {
      closed = true;
      reads.close();
      line.close();
      await Promise.all([roster.close(), keeper.close(), trustChain?.close()]);
      shared?.close();
      logger.info({ liteServers: members.length }, 'pool closed');
    },
  };
}

/** Reports whether a server gets reads and has the newest blocks. Some part of the past alone is no service. */
function canServeHead(member: Member): boolean {
  return isUsable(member.candidate()) && hasNewest(member.use().slices);
}

function oldestOf(member: Member): MemberReading['oldest'] {
  return depthKinds.flatMap((kind) => {
    const edge = member.depth()[kind];
    return edge === undefined ? [] : [{ kind, seqno: edge.masterchain }];
  });
}

function statusOf(member: Member, { lagBlocks: lag, lagSeconds }: MemberReading): LiteServerStatus {
  const { phase, cause, misbehaviours } = member.health();
  const { tier, role, weight } = member.use();
  return {
    index: member.index,
    name: member.name,
    phase,
    cause,
    connected: member.server.status().connected,
    tipSeqno: member.tip()?.block.seqno,
    lagBlocks: lag,
    lagSeconds,
    p70Ms: Object.fromEntries(methodClasses.map((methodClass) => [methodClass, member.score(methodClass).p70Ms])),
    depth: member.depth(),
    inFlight: member.inFlight(),
    inFlightLimit: member.inFlightLimit(),
    lastMisbehaviour: member.lastMisbehaviour(),
    recentErrors: member.recentErrors(),
    tier,
    role,
    weight,
    misbehaviours,
    cordoned: member.candidate().cordoned,
  };
}
