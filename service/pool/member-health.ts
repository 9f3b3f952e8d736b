import type { Logger } from 'pino';

import type { LiteServer } from '../liteserver/liteserver.ts';
import {
  afterFailure,
  afterMisbehaviour,
  afterOtherNetwork,
  readmit,
  afterReport,
  afterSilence,
  afterSuccess,
  unknownHealth,
} from './health.ts';
import type { Health, Question } from './health.ts';
import type { PoolMetrics } from './metrics.ts';
import type { PoolTuning } from './options.ts';
import { judge } from './verdict.ts';

/** Health of one lite server over time. Changes of its phase are logged and counted. */
export type MemberHealth = {
  readonly current: () => Health;
  reported(): void;
  readonly succeeded: (question: Question) => void;
  readonly failed: (question: Question) => void;
  misbehaved(): void;
  silent(): void;
  otherNetwork(): void;
  readonly readmitted: () => void;
  /** Repeats an overdue read, without a caller, until it is answered or the lite server is out. Does nothing while another read is repeated. */
  repeat(request: Buffer): void;
  /** Returns the read that was repeated last; undefined before the first. */
  unanswered(): Buffer | undefined;
};

export type MemberHealthDependencies = {
  readonly server: Pick<LiteServer, 'queryBytes'>;
  readonly metrics: PoolMetrics;
  readonly logger: Logger;
  /** Called when the lite server is back. */
  readonly onRoom: () => void;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** 0..1. */
  readonly random: () => number;
};

export function createMemberHealth(
  { name, tuning }: { readonly name: string; readonly tuning: PoolTuning },
  { server, metrics, logger, onRoom, now, random }: MemberHealthDependencies,
): MemberHealth {
  let health = unknownHealth;
  let lastRepeated: Buffer | undefined;
  let isRepeating = false;

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
    if (isBack) onRoom();
  }

  const jitter = (): number => 0.8 + 0.4 * random();

  function succeeded(question: Question): void {
    become(afterSuccess(health, question, now(), tuning.health));
  }

  function failed(question: Question): void {
    become(afterFailure(health, question, now(), jitter(), tuning.health));
  }

  async function repeat(request: Buffer): Promise<void> {
    if (isRepeating) return;
    isRepeating = true;
    lastRepeated = request;
    while (health.phase === 'in' && health.failures.read > 0) {
      try {
        await server.queryBytes(request, { timeoutMs: tuning.overdueMs });
        succeeded('read');
      } catch (error) {
        if (judge(error).health === 'works') succeeded('read');
        else failed('read');
      }
    }
    isRepeating = false;
  }

  return {
    current: () => health,
    reported: () => become(afterReport(health, now(), tuning.health)),
    succeeded,
    failed,
    misbehaved: () => become(afterMisbehaviour(health, now(), tuning.health)),
    silent: () => become(afterSilence(health, now(), jitter(), tuning.health)),
    otherNetwork: () => become(afterOtherNetwork(health, now())),
    readmitted: () => become(readmit(health, now())),
    repeat: (request) => void repeat(request),
    unanswered: () => lastRepeated,
  };
}
