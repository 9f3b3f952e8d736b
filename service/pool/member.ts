import type { Logger } from 'pino';

import { blockText, sameBlock } from '../decode/block-id.ts';
import type { LiteServer, QueryOptions } from '../liteserver/liteserver.ts';
import { ProofError } from '../proof/errors.ts';
import type { Tip, TrackedTip, ZeroStateId } from './head.ts';
import {
  afterFailure,
  afterMisbehaviour,
  afterOtherNetwork,
  afterReport,
  afterSuccess,
  unknownHealth,
} from './health.ts';
import type { Health, Question } from './health.ts';
import type { PoolMetrics } from './metrics.ts';
import type { PoolTuning } from './options.ts';
import type { Candidate } from './selection.ts';
import type { Verdict } from './verdict.ts';

/** One lite server as the pool sees it: its connection, what it reported, and what it is worth. */
export type Member = {
  readonly index: number;
  readonly name: string;
  health(): Health;
  tip(): TrackedTip | undefined;
  /** Reads at this moment; the wait for the next block is not one. */
  inFlight(): number;
  candidate(): Candidate;
  /** It reported its newest block. */
  reported(tip: Tip): void;
  /** It reported another network's zerostate. */
  otherNetwork(init: ZeroStateId): void;
  /** A question ended in this error. */
  judged(question: Question, verdict: Verdict, error: unknown): void;
  /** A question was answered well. */
  succeeded(question: Question): void;
  /** A read has no answer for longer than it may take. */
  overdue(): void;
  /** A read: counted in flight. */
  read(request: Buffer, options: QueryOptions): Promise<Buffer>;
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
  options: { index: number; name: string; inFlightMax: number; tuning: PoolTuning },
  dependencies: MemberDependencies,
): Member {
  const { index, name, tuning } = options;
  const { server, metrics, logger, now } = dependencies;
  let health = unknownHealth;
  let tip: TrackedTip | undefined;
  let inFlight = 0;

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

  function failed(question: Question): void {
    become(afterFailure(health, question, now(), 0.8 + 0.4 * dependencies.random(), tuning.health));
  }

  return {
    index,
    name,
    server,
    health: () => health,
    tip: () => tip,
    inFlight: () => inFlight,
    candidate: () => ({ index, health, tipSeqno: tip?.block.seqno, inFlight, inFlightMax: options.inFlightMax }),
    reported(reported) {
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
    overdue: () => failed('read'),
    async read(request, queryOptions) {
      inFlight += 1;
      try {
        return await server.queryBytes(request, queryOptions);
      } finally {
        inFlight -= 1;
      }
    },
  };
}
