import { SpanStatusCode } from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';

import { reachesDepth } from './depth.ts';
import type { Hedging } from './hedging.ts';
import type { Member } from './member.ts';
import type { PoolMetrics } from './metrics.ts';
import type { PoolTuning } from './options.ts';
import type { AttemptResult, Question } from './question.ts';
import { lagBlocks } from './selection.ts';
import { startSpan } from './spans.ts';
import { judge } from './verdict.ts';
import type { AttemptOutcome } from './verdict.ts';

export type MemberReadListeners = {
  /** Called when the answer came, before it is checked. */
  readonly onAnswer: () => void;
  /** Called when the lite server lacks the data. */
  readonly onMiss: () => void;
};

/** Asks one lite server, checks the answer, and records the outcome at the lite server. Rejects with the error of the query or of the check. */
export type MemberRead = <T>(
  member: Member,
  question: Question<T>,
  signal: AbortSignal,
  listeners: MemberReadListeners,
) => Promise<AttemptResult<T>>;

export type MemberReadDependencies = {
  readonly metrics: PoolMetrics;
  readonly tracer: Tracer;
  readonly hedging: Pick<Hedging, 'observe'>;
  /** Called when a lite server lacks an old block or state that it was expected to have. */
  readonly onMissing: (liteServer: number) => void;
  readonly now: () => number;
};

export function createMemberRead(
  { queryTimeoutMs, catchUpMs }: Pick<PoolTuning, 'queryTimeoutMs' | 'catchUpMs'>,
  { metrics, tracer, hedging, onMissing, now }: MemberReadDependencies,
): MemberRead {
  return async (member, question, signal, { onAnswer, onMiss }) => {
    const startedMs = now();
    const attributes = { 'ton.lite_server': member.name, 'ton.function': question.name };
    const span = startSpan(tracer, 'pool.attempt', attributes, question.span);
    let outcome: AttemptOutcome = 'ok';
    const wait = waitFor(member, question, catchUpMs);
    const leave = member.takeSlot();
    try {
      const answer = await member.read(question.request, { timeoutMs: queryTimeoutMs, signal, span, ...wait });
      if (!('waitMasterchain' in wait)) {
        const ms = now() - startedMs;
        member.observed(question.name, ms, false);
        hedging.observe(question.name, ms);
      }
      leave();
      onAnswer();
      const deadlineMs = startedMs + queryTimeoutMs;
      const { observe } = question;
      const attempted = { ...question.rights, liteServer: member.index, deadlineMs, signal, span, observe };
      const value = await question.judgeAnswer(answer, attempted);
      member.succeeded('read');
      return { value, liteServer: member.index, answer };
    } catch (error) {
      const verdict = judge(error);
      outcome = signal.aborted ? 'abandoned' : verdict.outcome;
      // A failed proof counts even if no caller waits for the answer any more.
      if (!signal.aborted || verdict.health === 'misbehaved') member.judged('read', verdict, error);
      if (outcome === 'pruned' || outcome === 'lagging') onMiss();
      if (outcome === 'pruned' && reachesDepth(member.depth(), question.wanted.depth)) onMissing(member.index);
      const hasFailed = verdict.health === 'failed' || verdict.health === 'misbehaved';
      if (!signal.aborted && hasFailed) member.observed(question.name, now() - startedMs, true);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : outcome });
      throw error;
    } finally {
      leave();
      metrics.attempt(member.name, outcome, (now() - startedMs) / 1000);
      span.setAttribute('ton.outcome', outcome);
      span.end();
    }
  };
}

/** Lets a lite server that is a little behind wait for the block instead of refusing at once. */
function waitFor(
  member: Member,
  { wanted: { masterchainSeqno: seqno }, waitMasterchain }: Question<unknown>,
  timeoutMs: number,
) {
  if (waitMasterchain !== undefined) return { waitMasterchain };
  if (seqno === undefined || lagBlocks({ tipSeqno: member.tip()?.block.seqno }, seqno) === 0) return {};
  return { waitMasterchain: { seqno, timeoutMs } };
}
