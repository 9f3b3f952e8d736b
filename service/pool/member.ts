import type { Logger } from 'pino';

import { blockText, sameBlock } from '../decode/block-id.ts';
import { LiteServerError } from '../liteserver/errors.ts';
import { functionNamed, functionOf } from '../liteserver/function-table.ts';
import { sendMessage } from '../liteserver/functions.ts';
import type { LiteServer, QueryOptions } from '../liteserver/liteserver.ts';
import type { DepthKind, DepthNeed, MethodClass } from '../liteserver/query-facts.ts';
import { ProofError } from '../proof/errors.ts';
import type { Permission } from './read-access.ts';
import { reachesDepth } from './depth.ts';
import type { Depth, DepthEdge } from './depth.ts';
import type { Tip, TrackedTip, ZeroStateId } from './head.ts';
import { isOutForReads } from './health.ts';
import type { Health, Question } from './health.ts';
import { createInFlightLimit } from './in-flight-limit.ts';
import { createMemberHealth } from './member-health.ts';
import type { PoolMetrics } from './metrics.ts';
import { useDefaults } from './options.ts';
import type { PoolLiteServer, PoolTuning } from './options.ts';
import { createRecentErrors } from './recent-errors.ts';
import type { RecentError } from './recent-errors.ts';
import { costMs, createScores } from './score.ts';
import type { Score } from './score.ts';
import type { Candidate } from './selection.ts';
import type { Verdict } from './verdict.ts';

/** Configured use of a lite server. */
export type LiteServerUse = Required<
  Pick<PoolLiteServer, 'maxInFlight' | 'weight' | 'cordoned' | 'tier' | 'role' | 'slices'>
>;

/** Lite server as the pool sees it: its connection, its reports, and its score. */
export type Member = {
  readonly index: number;
  readonly name: string;
  health(): Health;
  tip(): TrackedTip | undefined;
  /** Returns the reads and messages in flight; a wait for the next block is not counted. */
  inFlight(): number;
  /** Returns the current limit of reads and messages in flight. */
  inFlightLimit(): number;
  /** Takes a slot for a read or a message; the returned function frees it. */
  takeSlot(): () => void;
  /**
   * @param isUrgent true for work that may use reserved slots
   * @param permission of the caller for this server
   */
  candidate(methodClass?: MethodClass, need?: DepthNeed, isUrgent?: boolean, permission?: Permission): Candidate;
  /** Returns the configured use. */
  use(): LiteServerUse;
  /** Applies a changed configuration. */
  adjust(wishes: Partial<LiteServerUse>): void;
  /** Returns how far back it has blocks and states, as far as measured. */
  depth(): Depth;
  reaches(kind: DepthKind, edge: DepthEdge): void;
  score(methodClass: MethodClass): Score;
  /** Records a report of its newest block. */
  reported(tip: Tip): void;
  /** Records a report of another network's zero state. */
  otherNetwork(init: ZeroStateId): void;
  /** Records that a query ended in this error. */
  judged(question: Question, verdict: Verdict, error: unknown): void;
  /** Records a good answer. */
  succeeded(question: Question): void;
  /** Records that a read is unusually slow; the returned function ends that. */
  stalled(): () => void;
  /**
   * Records that a read is overdue. The pool repeats the read, without a caller, until it is answered or the lite server is out. Callers need not
   * find out.
   * @param request absent for requests that must not be sent twice
   */
  overdue(functionName: string, request?: Buffer): void;
  /** Records that a read of this function ended after `ms`, well or not. */
  observed(functionName: string, ms: number, failed: boolean): void;
  read(request: Buffer, options: QueryOptions): Promise<Buffer>;
  /** Records that a report got no answer. @param sinceMs time of the request */
  silent(sinceMs: number, error: unknown): void;
  /** Returns its last errors, newest first. */
  recentErrors(): readonly RecentError[];
  /** Returns the check that its last misbehaviour failed. */
  lastMisbehaviour(): string | undefined;
  /** Ends its pause early. */
  readmitted(): void;
  /** Returns an unanswered read for use as a probe; undefined when reports are enough to bring it back. */
  probeRead(): Buffer | undefined;
  /** Connection, for the follower and for closing. */
  readonly server: LiteServer;
};

export type MemberDependencies = {
  readonly server: LiteServer;
  readonly metrics: PoolMetrics;
  readonly logger: Logger;
  /** Called when there may be room for a waiting read. */
  readonly onRoom: () => void;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** 0..1. */
  readonly random: () => number;
};

/** Slots reserved for messages and for work that the head waits for. About as many blocks and messages come at once. */
const RESERVE = 8;

/** Reserved part if the limit of the lite server is small. */
const RESERVE_PART = 1 / 8;

export function createMember(
  options: { index: number; name: string; tuning: PoolTuning },
  dependencies: MemberDependencies,
): Member {
  const { index, name, tuning } = options;
  const { server, metrics, logger, now } = dependencies;
  let tip: TrackedTip | undefined;
  let inFlight = 0;
  let stalled = 0;
  let depth: Depth = {};
  let use: LiteServerUse = useDefaults;
  let heardMs = Number.NEGATIVE_INFINITY;
  let lastRead: Buffer | undefined;
  let lastMisbehaviour: string | undefined;
  const recent = createRecentErrors({ now });
  const scores = createScores({ now });
  const limit = createInFlightLimit({ ceiling: use.maxInFlight }, { now });
  const health = createMemberHealth({ name, tuning }, dependencies);

  function hasRoom(isUrgent: boolean): boolean {
    const reserve = Math.min(RESERVE, Math.floor(use.maxInFlight * RESERVE_PART));
    const most = isUrgent ? limit.current() + reserve : limit.current();
    return inFlight < Math.min(most, use.maxInFlight - (isUrgent ? 0 : reserve));
  }

  function heard(): void {
    heardMs = now();
  }

  return {
    index,
    name,
    server,
    health: health.current,
    tip: () => tip,
    inFlight: () => inFlight,
    inFlightLimit: () => limit.current(),
    takeSlot() {
      inFlight += 1;
      return once(() => {
        inFlight -= 1;
        dependencies.onRoom();
      });
    },
    candidate(methodClass = 'light', need, isUrgent = false, permission = 'yes') {
      const { weight, cordoned } = use;
      return {
        index,
        health: health.current(),
        cordoned,
        tipSeqno: tip?.block.seqno,
        hasRoom: hasRoom(isUrgent),
        permission,
        reaches: reachesDepth(depth, need),
        stalled,
        costMs: costMs(scores.of(methodClass), inFlight * (useDefaults.weight / weight)),
        weight,
      };
    },
    use: () => use,
    adjust(wishes) {
      use = { ...useDefaults, ...wishes };
      limit.setCeiling(use.maxInFlight);
      dependencies.onRoom();
    },
    depth: () => depth,
    reaches(kind, edge) {
      depth = { ...depth, [kind]: edge };
    },
    score: (methodClass) => scores.of(methodClass),
    reported(reported) {
      heard();
      const moved = tip === undefined || !sameBlock(tip.block, reported.block);
      tip = { ...reported, changedMs: moved ? now() : (tip?.changedMs ?? now()) };
      health.reported();
    },
    otherNetwork(init) {
      const rootHash = init.rootHash.toString('hex');
      logger.error(
        { liteServer: name, rootHash },
        'lite server serves another network and is not used: its zerostate is not the configured one',
      );
      health.otherNetwork();
    },
    judged(question, verdict, error) {
      // An error that every lite server would return is not recorded for this one.
      if (!verdict.final) recent.add(verdict.outcome, error instanceof Error ? error.message : String(error));
      if (verdict.health === 'works') health.succeeded(question);
      if (verdict.health === 'failed') health.failed(question);
      if (verdict.outcome === 'overloaded') limit.overloaded();
      if (verdict.health !== 'misbehaved') return;
      const rule = error instanceof ProofError ? error.code : 'other';
      metrics.misbehaviour(name, rule);
      lastMisbehaviour = error instanceof ProofError ? error.message : rule;
      logger.error(
        { liteServer: name, rule, err: error, tip: tip && blockText(tip.block) },
        'lite server gave an answer whose proof failed',
      );
      health.misbehaved();
    },
    succeeded: health.succeeded,
    stalled() {
      stalled += 1;
      return once(() => {
        stalled -= 1;
      });
    },
    overdue(functionName, request) {
      scores.observe(classOf(functionName), tuning.overdueMs, true);
      recent.add('timeout', `${functionName}: no answer within ${tuning.overdueMs} ms`);
      limit.overloaded();
      health.failed('read');
      if (request !== undefined) health.repeat(request);
    },
    observed(functionName, ms, isFailure) {
      scores.observe(classOf(functionName), ms, isFailure);
      if (!isFailure) limit.answered(functionName, ms, inFlight);
    },
    silent(sinceMs, error) {
      // A server that answers other queries during the wait is not silent. It may only not support the wait.
      recent.add('timeout', error instanceof Error ? error.message : 'no report of its newest block');
      if (heardMs > sinceMs) return health.failed('report');
      if (health.current().phase === 'in') logger.warn({ liteServer: name, err: error }, 'lite server is silent');
      health.silent();
    },
    lastMisbehaviour: () => lastMisbehaviour,
    recentErrors: recent.list,
    readmitted: health.readmitted,
    probeRead: () => (isOutForReads(health.current(), tuning.health) ? (health.unanswered() ?? lastRead) : undefined),
    async read(request, queryOptions) {
      // A message is never sent again as a probe.
      if (functionOf(request)?.name !== sendMessage.name) lastRead = request;
      try {
        const answer = await server.queryBytes(request, queryOptions);
        heard();
        return answer;
      } catch (error) {
        if (error instanceof LiteServerError && error.data.serverCode !== undefined) heard();
        throw error;
      }
    },
  };
}

/** Returns a function that acts at its first call only. */
/** Returns the class of a function by its name; `light` for bytes of an unknown function. */
function classOf(functionName: string): MethodClass {
  return functionNamed(functionName)?.cost ?? 'light';
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
