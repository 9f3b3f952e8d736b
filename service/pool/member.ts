import type { Logger } from 'pino';

import { blockText, sameBlock } from '../decode/block-id.ts';
import { LiteServerError } from '../liteserver/errors.ts';
import { functionOf, sendMessage } from '../liteserver/functions.ts';
import type { LiteServer, QueryOptions } from '../liteserver/liteserver.ts';
import { ProofError } from '../proof/errors.ts';
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
import { methodClassOf } from './method-class.ts';
import type { MethodClass } from './method-class.ts';
import type { PoolMetrics } from './metrics.ts';
import { MAX_IN_FLIGHT } from './options.ts';
import type { PoolLiteServer, PoolTuning } from './options.ts';
import { costMs, createScores } from './score.ts';
import type { Score } from './score.ts';
import type { Candidate } from './selection.ts';
import { judge } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** What the configuration says of a lite server's use. */
type Wishes = Pick<PoolLiteServer, 'maxInFlight' | 'weight' | 'cordoned'>;

/** One lite server as the pool sees it: its connection, what it reported, and what it is worth. */
export type Member = {
  readonly index: number;
  readonly name: string;
  health(): Health;
  tip(): TrackedTip | undefined;
  /** Reads at this moment; the wait for the next block is not one. */
  inFlight(): number;
  candidate(methodClass?: MethodClass, need?: DepthNeed): Candidate;
  /** Takes over what the configuration says of its use. */
  adjust(wishes: Wishes): void;
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
  /** A read: counted in flight. */
  read(request: Buffer, options: QueryOptions): Promise<Buffer>;
  /** No answer came to a report. @param sinceMs when the report was asked for */
  silent(sinceMs: number, error: unknown): void;
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
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** 0..1. */
  readonly random: () => number;
};

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
  let wishes: Wishes = {};
  let heardMs = Number.NEGATIVE_INFINITY;
  let lastRead: Buffer | undefined;
  let unanswered: Buffer | undefined;
  let isConfirming = false;
  const scores = createScores({ now });

  function become(next: Health): void {
    if (next.phase !== health.phase) {
      const level = next.phase === 'in' ? 'info' : 'warn';
      logger[level](
        { liteServer: name, from: health.phase, to: next.phase, cause: next.cause },
        'lite server changed phase',
      );
    }
    health = next;
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
    candidate(methodClass = 'light', need) {
      const tipSeqno = tip?.block.seqno;
      const { maxInFlight: inFlightMax = MAX_IN_FLIGHT, weight = 1, cordoned = false } = wishes;
      const cost = costMs(scores.of(methodClass), inFlight) / weight;
      const reaches = reachesDepth(depth, need);
      return { index, health, cordoned, tipSeqno, inFlight, inFlightMax, reaches, stalled, costMs: cost };
    },
    adjust(changed) {
      wishes = changed;
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
      if (verdict.health === 'works') become(afterSuccess(health, question, now(), tuning.health));
      if (verdict.health === 'failed') failed(question);
      if (verdict.health !== 'misbehaved') return;
      const rule = error instanceof ProofError ? error.code : 'other';
      metrics.misbehaviour(name, rule);
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
      failed('read');
      if (request !== undefined) void confirm(request);
    },
    observed: (functionName, ms, isFailure) => scores.observe(methodClassOf(functionName), ms, isFailure),
    silent(sinceMs, error) {
      // One that answers other questions meanwhile is not silent; it may only not know how to wait.
      if (heardMs >= sinceMs) return failed('report');
      if (health.phase === 'in') logger.warn({ liteServer: name, err: error }, 'lite server is silent');
      become(afterSilence(health, now(), jitter(), tuning.health));
    },
    pardoned: () => become(afterPardon(health, now())),
    probeRead: () => (isOutForReads(health, tuning.health) ? (unanswered ?? lastRead) : undefined),
    async read(request, queryOptions) {
      inFlight += 1;
      // A message is never sent again as a probe.
      if (functionOf(request)?.name !== sendMessage.name) lastRead = request;
      try {
        const answer = await server.queryBytes(request, queryOptions);
        heard();
        return answer;
      } catch (error) {
        if (error instanceof LiteServerError && error.data.serverCode !== undefined) heard();
        throw error;
      } finally {
        inFlight -= 1;
      }
    },
  };
}
