import type { Logger } from 'pino';

import { blockText, sameBlock } from '../decode/block-id.ts';
import { LiteServerError } from '../liteserver/errors.ts';
import { functionOf, sendMessage } from '../liteserver/functions.ts';
import type { LiteServer, QueryOptions } from '../liteserver/liteserver.ts';
import { ProofError } from '../proof/errors.ts';
import type { Permission } from './access.ts';
import { reachesDepth } from './depth.ts';
import type { Depth, DepthEdge, DepthKind, DepthNeed } from './depth.ts';
import type { Tip, TrackedTip, ZeroStateId } from './head.ts';
import {
  afterFailure,
  afterMisbehaviour,
  afterOtherNetwork,
  afterPardon,
  afterReport,
  afterSilence,
  afterSuccess,
  isOutForReads,
  unknownHealth,
} from './health.ts';
import type { Health, Question } from './health.ts';
import { createInFlightLimit } from './in-flight-limit.ts';
import { methodClassOf } from './method-class.ts';
import type { MethodClass } from './method-class.ts';
import type { PoolMetrics } from './metrics.ts';
import { useDefaults } from './options.ts';
import type { PoolLiteServer, PoolTuning } from './options.ts';
import { createRecentErrors } from './recent-errors.ts';
import type { RecentError } from './recent-errors.ts';
import { costMs, createScores } from './score.ts';
import type { Score } from './score.ts';
import type { Candidate } from './selection.ts';
import { judge } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** What the configuration says of a lite server's use. */
export type LiteServerUse = Required<
  Pick<PoolLiteServer, 'maxInFlight' | 'weight' | 'cordoned' | 'tier' | 'role' | 'slices'>
>;

/** One lite server as the pool sees it: its connection, what it reported, and what it is worth. */
export type Member = {
  readonly index: number;
  readonly name: string;
  health(): Health;
  tip(): TrackedTip | undefined;
  /** Reads and messages at this moment; the wait for the next block is not one. */
  inFlight(): number;
  /** As many of them as it is given now. */
  inFlightLimit(): number;
  /** Takes a place for a read or a message; the function given back frees it. */
  takePlace(): () => void;
  /**
   * @param isUrgent for what may use the places that are kept free
   * @param permission what it is to the caller
   */
  candidate(methodClass?: MethodClass, need?: DepthNeed, isUrgent?: boolean, permission?: Permission): Candidate;
  /** What the configuration says of its use. */
  use(): LiteServerUse;
  /** Takes over what the configuration says of its use. */
  adjust(wishes: Partial<LiteServerUse>): void;
  /** How far back it has blocks and states, as far as known. */
  depth(): Depth;
  reaches(kind: DepthKind, edge: DepthEdge): void;
  score(methodClass: MethodClass): Score;
  /** It reported its newest block. */
  reported(tip: Tip): void;
  /** It reported another network's zerostate. */
  otherNetwork(init: ZeroStateId): void;
  /** A question ended in this error. */
  judged(question: Question, verdict: Verdict, error: unknown): void;
  /** A question was answered well. */
  succeeded(question: Question): void;
  /** A read has no answer for longer than is usual; the function given back ends that. */
  stalled(): () => void;
  /**
   * A read has no answer for longer than it may take. It is asked again, with nobody waiting, until that is answered or the lite
   * server is out: callers need not find out.
   * @param request absent for what must not be asked twice
   */
  overdue(functionName: string, request?: Buffer): void;
  /** A read of this function ended after `ms`, well or not. */
  observed(functionName: string, ms: number, failed: boolean): void;
  read(request: Buffer, options: QueryOptions): Promise<Buffer>;
  /** No answer came to a report. @param sinceMs when the report was asked for */
  silent(sinceMs: number, error: unknown): void;
  /** Its last errors, newest first. */
  recentErrors(): readonly RecentError[];
  /** Which check its last misbehaviour failed. */
  lastMisbehaviour(): string | undefined;
  /** It need not wait for the end of its pause. */
  pardoned(): void;
  /** A read that it left unanswered, to be asked again as a probe; undefined when reports suffice to bring it back. */
  probeRead(): Buffer | undefined;
  /** The connection itself, for the follower and for closing. */
  readonly server: LiteServer;
};

export type MemberDependencies = {
  readonly server: LiteServer;
  readonly metrics: PoolMetrics;
  readonly logger: Logger;
  /** There may be room for a read that found none before. */
  readonly onRoom: () => void;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** 0..1. */
  readonly random: () => number;
};

/** Places that reads leave to messages and to what the head waits for: so many blocks and messages come at once. */
const RESERVE = 8;

/** Of a lite server that is given few at all, reads leave this part. */
const RESERVE_PART = 1 / 8;

export function createMember(
  options: { index: number; name: string; tuning: PoolTuning },
  dependencies: MemberDependencies,
): Member {
  const { index, name, tuning } = options;
  const { server, metrics, logger, now } = dependencies;
  let health = unknownHealth;
  let tip: TrackedTip | undefined;
  let inFlight = 0;
  let stalled = 0;
  let depth: Depth = {};
  let use: LiteServerUse = useDefaults;
  let heardMs = Number.NEGATIVE_INFINITY;
  let lastRead: Buffer | undefined;
  let unanswered: Buffer | undefined;
  let isConfirming = false;
  let lastMisbehaviour: string | undefined;
  const recent = createRecentErrors({ now });
  const scores = createScores({ now });
  const limit = createInFlightLimit({ ceiling: use.maxInFlight }, { now });

  function hasRoom(isUrgent: boolean): boolean {
    const reserve = Math.min(RESERVE, Math.floor(use.maxInFlight * RESERVE_PART));
    const most = isUrgent ? limit.current() + reserve : limit.current();
    return inFlight < Math.min(most, use.maxInFlight - (isUrgent ? 0 : reserve));
  }

  function become(next: Health): void {
    const isBack = next.phase === 'in' && health.phase !== 'in';
    if (next.phase !== health.phase) {
      const level = next.phase === 'in' ? 'info' : 'warn';
      logger[level](
        { liteServer: name, from: health.phase, to: next.phase, cause: next.cause },
        'lite server changed phase',
      );
      if (next.cause !== undefined) metrics.ejected(name, next.cause);
    }
    health = next;
    if (isBack) dependencies.onRoom();
  }

  const jitter = (): number => 0.8 + 0.4 * dependencies.random();

  function failed(question: Question): void {
    become(afterFailure(health, question, now(), jitter(), tuning.health));
  }

  async function confirm(request: Buffer): Promise<void> {
    if (isConfirming) return;
    isConfirming = true;
    unanswered = request;
    while (health.phase === 'in' && health.failures.read > 0) {
      try {
        await server.queryBytes(request, { timeoutMs: tuning.overdueMs });
        become(afterSuccess(health, 'read', now(), tuning.health));
      } catch (error) {
        if (judge(error).health === 'works') become(afterSuccess(health, 'read', now(), tuning.health));
        else failed('read');
      }
    }
    isConfirming = false;
  }

  function heard(): void {
    heardMs = now();
  }

  return {
    index,
    name,
    server,
    health: () => health,
    tip: () => tip,
    inFlight: () => inFlight,
    inFlightLimit: () => limit.current(),
    takePlace() {
      inFlight += 1;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        inFlight -= 1;
        dependencies.onRoom();
      };
    },
    candidate(methodClass = 'light', need, isUrgent = false, permission = 'yes') {
      const { weight, cordoned } = use;
      return {
        index,
        health,
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
      become(afterReport(health, now(), tuning.health));
    },
    otherNetwork(init) {
      const rootHash = init.rootHash.toString('hex');
      logger.error(
        { liteServer: name, rootHash },
        'lite server serves another network and is not used: its zerostate is not the configured one',
      );
      become(afterOtherNetwork(health, now()));
    },
    judged(question, verdict, error) {
      // What every lite server would say is no error of this one.
      if (!verdict.final) recent.add(verdict.outcome, error instanceof Error ? error.message : String(error));
      if (verdict.health === 'works') become(afterSuccess(health, question, now(), tuning.health));
      if (verdict.health === 'failed') failed(question);
      if (verdict.outcome === 'overloaded') limit.overloaded();
      if (verdict.health !== 'misbehaved') return;
      const rule = error instanceof ProofError ? error.code : 'other';
      metrics.misbehaviour(name, rule);
      lastMisbehaviour = error instanceof ProofError ? error.message : rule;
      logger.error(
        { liteServer: name, rule, err: error, tip: tip && blockText(tip.block) },
        'lite server gave an answer whose proof failed',
      );
      become(afterMisbehaviour(health, now(), tuning.health));
    },
    succeeded: (question) => become(afterSuccess(health, question, now(), tuning.health)),
    stalled() {
      stalled += 1;
      let ended = false;
      return () => {
        if (!ended) stalled -= 1;
        ended = true;
      };
    },
    overdue(functionName, request) {
      scores.observe(methodClassOf(functionName), tuning.overdueMs, true);
      recent.add('timeout', `${functionName}: no answer within ${tuning.overdueMs} ms`);
      limit.overloaded();
      failed('read');
      if (request !== undefined) void confirm(request);
    },
    observed(functionName, ms, isFailure) {
      scores.observe(methodClassOf(functionName), ms, isFailure);
      if (!isFailure) limit.answered(functionName, ms, inFlight);
    },
    silent(sinceMs, error) {
      // One that answers other questions meanwhile is not silent; it may only not know how to wait.
      recent.add('timeout', error instanceof Error ? error.message : 'no report of its newest block');
      if (heardMs > sinceMs) return failed('report');
      if (health.phase === 'in') logger.warn({ liteServer: name, err: error }, 'lite server is silent');
      become(afterSilence(health, now(), jitter(), tuning.health));
    },
    lastMisbehaviour: () => lastMisbehaviour,
    recentErrors: recent.list,
    pardoned: () => become(afterPardon(health, now())),
    probeRead: () => (isOutForReads(health, tuning.health) ? (unanswered ?? lastRead) : undefined),
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
