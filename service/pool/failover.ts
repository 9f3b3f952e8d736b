import { AttemptsExhausted, raceAttempts } from './attempts.ts';
import type { AttemptCause } from './attempts.ts';
import { createBudget } from './budget.ts';
import type { Picker } from './lite-server-picker.ts';
import { PoolError } from './errors.ts';
import { createHedging } from './hedging.ts';
import type { Member } from './member.ts';
import { createMemberRead } from './member-read.ts';
import type { MemberReadDependencies } from './member-read.ts';
import type { PoolTuning } from './options.ts';
import type { AttemptResult, Question } from './question.ts';
import { isUsable } from './selection.ts';
import { commonAbsence, judge, mostInformativeError } from './verdict.ts';
import type { AdmissionQueue } from './admission-queue.ts';

/**
 * Asks lite servers until one gives a good answer. Hedges and retries have budgets.
 * @param tried indexes that are not asked; asked ones are added
 * @throws PoolError `closed`, or the most informative error of the lite servers
 */
export type Failover = <T>(question: Question<T>, tried: Set<number>, signal: AbortSignal) => Promise<AttemptResult<T>>;

export type FailoverDependencies = Omit<MemberReadDependencies, 'hedging'> & {
  readonly members: readonly Member[];
  readonly choice: Picker;
  /** Line of reads that wait for lite servers with room. */
  readonly line: AdmissionQueue;
  readonly isClosed: () => boolean;
};

export function createFailover(tuning: PoolTuning, dependencies: FailoverDependencies): Failover {
  const { members, metrics, choice, line, isClosed, now } = dependencies;
  const hedging = createHedging({ msMin: tuning.hedgeMsMin, msMax: tuning.slowAfterMs });
  const readMember = createMemberRead(tuning, { ...dependencies, hedging });
  const hedgeBudget = createBudget(tuning.hedgeBudget, { now });
  const retryBudget = createBudget(tuning.retryBudget, { now });

  /** Returns true when the budgets allow one more query. @param isGood the lite server to ask is likely to answer soon */
  function isPaidFor(cause: AttemptCause, isGood: boolean): boolean {
    if (cause === 'first') return true;
    if (cause === 'retry') {
      const paid = retryBudget.take();
      metrics.retry(paid ? 'made' : 'denied');
      return paid;
    }
    if (!isGood) return false;
    const paid = hedgeBudget.take();
    metrics.hedge(paid ? 'fired' : 'denied');
    return paid;
  }

  function memberAt(index: number): Member {
    const member = members.find((candidate) => candidate.index === index);
    if (member === undefined) throw new RangeError(`no lite server ${index}`);
    return member;
  }

  return async <T>(question: Question<T>, tried: Set<number>, signal: AbortSignal): Promise<AttemptResult<T>> => {
    // A check may take longer than an answer may. The lite server is not at fault then.
    const answered = new Set<number>();
    const asked = new Map<number, Member>();
    const hedges = new Set<number>();
    // If a server merely lacks the data, the next attempt is free. Otherwise an exhausted budget would turn its refusal into the final answer.
    let hasMissed = false;
    const { wanted, rights } = question;
    hedgeBudget.earn();
    retryBudget.earn();
    const next = (cause: AttemptCause): number | 'full' | undefined => {
      if (isClosed()) return undefined;
      const chosen = choice.next(wanted, tried);
      if (chosen === undefined) return undefined;
      if (!chosen.hasRoom) return 'full';
      const isFree = cause === 'retry' && hasMissed;
      if (!isFree && !isPaidFor(cause, isUsable(chosen) && chosen.reaches && chosen.stalled === 0)) return undefined;
      if (cause === 'hedge') hedges.add(chosen.index);
      tried.add(chosen.index);
      return chosen.index;
    };
    try {
      const { value } = await raceAttempts(
        {
          next,
          queue: (startNow, refuse) =>
            line.join({
              caller: rights.caller ?? '',
              isUrgent: wanted.isUrgent,
              kind: `${choice.forbidden(wanted)} ${wanted.methodClass} ${wanted.isUrgent} ${[...tried].join()}`,
              deadlineMs: question.deadlineMs,
              start: startNow,
              refuse,
            }),
          start: (index, stop) => {
            // The server may leave the pool during the attempt.
            const member = memberAt(index);
            asked.set(index, member);
            const onAnswer = (): void => void answered.add(index);
            return readMember(member, question, stop, { onAnswer, onMiss: () => void (hasMissed = true) });
          },
          isFinal: (error) => judge(error).final,
          onOverdue: (index) => {
            if (!answered.has(index)) asked.get(index)?.overdue(question.name, question.request);
          },
          onSlow: (index) => asked.get(index)?.stalled() ?? (() => undefined),
          slowAfterMs: hedging.delayMs(question.name),
          overdueMs: tuning.overdueMs,
          runningMax: tuning.attemptsRunningMax,
          now,
        },
        signal,
      );
      choice.good(wanted.methodClass, value.liteServer);
      if (hedges.has(value.liteServer)) metrics.hedge('won');
      return value;
    } catch (error) {
      if (isClosed()) throw new PoolError('closed', { attempts: tried.size }, error);
      if (!(error instanceof AttemptsExhausted)) throw error;
      const absence = commonAbsence(error.errors);
      if (absence !== undefined) question.onAbsent?.(absence);
      throw mostInformativeError(error.errors);
    } finally {
      question.observe({ kind: 'read', source: 'lite_server', liteServers: [], attempts: tried.size });
    }
  };
}
