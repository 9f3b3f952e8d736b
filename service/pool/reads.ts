import { context as otelContext, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Span, Tracer } from '@opentelemetry/api';

import type { LiteServerFunction } from '../liteserver/functions.ts';
import type { QueryOptions } from '../liteserver/liteserver.ts';
import type { ProofMetrics } from '../proof/metrics.ts';
import { createAnswerCache } from './answer-cache.ts';
import { AttemptsExhausted, raceAttempts } from './attempts.ts';
import type { AttemptCause } from './attempts.ts';
import { createBudget } from './budget.ts';
import { depthNeedOf, reachesDepth } from './depth.ts';
import type { DepthNeed } from './depth.ts';
import { PoolError } from './errors.ts';
import { createHedging } from './hedging.ts';
import type { Member } from './member.ts';
import { methodClassOf } from './method-class.ts';
import type { MethodClass } from './method-class.ts';
import type { PoolMetrics } from './metrics.ts';
import type { PoolTuning } from './options.ts';
import { isUsable, lagBlocks, selectLiteServer } from './selection.ts';
import { createSingleFlight } from './single-flight.ts';
import { judge, mostTelling } from './verdict.ts';

/** What a read is bounded by and traced under; `live`'s ReadContext is one. */
export type PoolContext = {
  /** Milliseconds of the pool's clock (`performance.now()`). */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly span?: Span;
  /** Told of the lite servers that a read asks; the set grows with each. Also where the read fails, and where it joins another. */
  readonly noteAsked?: (liteServers: ReadonlySet<number>) => void;
};

/** The attempt whose answer is checked; a check that asks for more does so under this, since a read may have several waiters. */
export type CheckedAttempt = PoolContext & {
  /** Zero-based, in configuration order. */
  readonly liteServer: number;
};

export type PoolQueryOptions<R, T> = {
  /**
   * Checks the answer and makes the value of it. A ProofError means that the lite server lies: it is counted and put out, and
   * another one is asked. Another error of ours (TonplaneError) makes another one be asked and nothing else; any other error is a
   * fault in the check and ends the read.
   */
  readonly check?: (answer: R, attempt: CheckedAttempt) => T | Promise<T>;
  /**
   * Name of the check. Reads with the same request and the same name share one query, and one cached value when `immutable`.
   * Absent: the read is done on its own.
   */
  readonly shareAs?: string;
  /** The value can never change: a read of something pinned to a full block id. */
  readonly immutable?: boolean;
  /** The masterchain block that must be there for the answer: lite servers that have it are asked first, others are let wait for it. */
  readonly masterchainSeqno?: number;
};

export type PoolAnswer<T> = {
  readonly value: T;
  /** Zero-based indexes, in configuration order, of the lite servers whose answers were used; empty from the cache. */
  readonly liteServers: readonly number[];
  readonly cached: boolean;
};

export type Reads = {
  readonly query: <A, R, T = R>(
    fn: LiteServerFunction<A, R>,
    args: A,
    context: PoolContext,
    options?: PoolQueryOptions<R, T>,
  ) => Promise<PoolAnswer<T>>;
  /** An unchecked exchange of bytes, with the failover of a read and nothing else of it. */
  readonly queryBytes: (request: Buffer, options: QueryOptions) => Promise<Buffer>;
  readonly cacheBytes: () => number;
  /** From now on reads reject with PoolError `closed`; those under way do so when their lite servers are closed. */
  close(): void;
};

export type ReadsDependencies = {
  readonly members: readonly Member[];
  readonly metrics: PoolMetrics;
  readonly proofs: ProofMetrics;
  readonly tracer: Tracer;
  /** A lite server does not have an old block or state that it was taken to have. */
  readonly onMissing: (liteServer: number) => void;
  readonly now: () => number;
  readonly random: () => number;
};

/** One read, as attempts see it. */
type Question<T> = {
  readonly name: string;
  readonly request: Buffer;
  readonly span: Span | undefined;
  readonly masterchainSeqno: number | undefined;
  /** Given by the caller itself. */
  readonly waitMasterchain?: QueryOptions['waitMasterchain'];
  /** What lite servers may have dropped already. */
  readonly depth: DepthNeed | undefined;
  readonly judgeAnswer: (answer: Buffer, attempt: CheckedAttempt) => T | Promise<T>;
};

type Asked<T> = { readonly value: T; readonly liteServer: number; readonly bytes: number };

/** Bytes that a cached value weighs on top of twice its answer (the bytes it may hold on to, and what was made of them). */
const CACHE_ENTRY_BYTES = 1_024;

/** Reads over several lite servers: cache, single flight, attempts, judgement. */
export function createReads(tuning: PoolTuning, dependencies: ReadsDependencies): Reads {
  const { members, metrics, proofs, now, random } = dependencies;
  const cache = createAnswerCache({ bytesMax: tuning.cacheBytesMax });
  const flights = createSingleFlight({ now });
  const hedging = createHedging({ msMin: tuning.hedgeMsMin, msMax: tuning.slowAfterMs });
  const hedgeBudget = createBudget(tuning.hedgeBudget, { now });
  const retryBudget = createBudget(tuning.retryBudget, { now });
  const lastGood = new Map<MethodClass, number>();
  /** Of the reads under way, by key. */
  const askedFor = new Map<string, Set<number>>();
  let unsharedReads = 0;
  let closed = false;

  async function query<A, R, T = R>(
    fn: LiteServerFunction<A, R>,
    args: A,
    context: PoolContext,
    options: PoolQueryOptions<R, T> = {},
  ): Promise<PoolAnswer<T>> {
    if (closed) throw new PoolError('closed');
    const request = fn.encode(args);
    const { check, shareAs, immutable } = options;
    const key = shareAs === undefined ? `unshared ${++unsharedReads}` : `${shareAs} ${request.toString('latin1')}`;
    const held = immutable ? cache.get(key) : undefined;
    if (held !== undefined) {
      metrics.read('cache');
      // The key names request and check, so what is held under it is what this check made.
      return { value: held as T, liteServers: [], cached: true };
    }
    const question: Question<T> = {
      name: fn.name,
      request,
      span: context.span,
      masterchainSeqno: options.masterchainSeqno,
      depth: depthNeedOf(fn.name, args),
      judgeAnswer: (answer, attempted) => {
        const decoded = fn.decode(answer);
        // Without a check the value is the answer: T is R then.
        return check === undefined ? (decoded as unknown as T) : runCheck(fn.name, decoded, check, attempted);
      },
    };
    const tried = askedFor.get(key) ?? new Set<number>();
    context.noteAsked?.(tried);
    const { value: asked, joined } = await flights.run(key, context, async (signal) => {
      askedFor.set(key, tried);
      try {
        const result = await ask(question, tried, signal);
        if (immutable) cache.set(key, result.value, request.length + 2 * result.bytes + CACHE_ENTRY_BYTES);
        return result;
      } finally {
        // One that nobody waited for any more may have a successor.
        if (askedFor.get(key) === tried) askedFor.delete(key);
      }
    });
    metrics.read(joined ? 'joined' : 'lite_server');
    return { value: asked.value, liteServers: [asked.liteServer], cached: false };
  }

  /** Counted and timed under the function's name, and traced below the attempt. */
  async function runCheck<R, T>(
    kind: string,
    answer: R,
    check: NonNullable<PoolQueryOptions<R, T>['check']>,
    attempted: CheckedAttempt,
  ): Promise<T> {
    const span = startSpan(dependencies.tracer, 'proof', { 'ton.function': kind }, attempted.span);
    try {
      return await proofs.measure(kind, () => check(answer, { ...attempted, span }));
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : 'failed' });
      throw error;
    } finally {
      span.end();
    }
  }

  async function queryBytes(request: Buffer, options: QueryOptions): Promise<Buffer> {
    if (closed) throw new PoolError('closed');
    const { waitMasterchain, timeoutMs } = options;
    const waiter = { deadlineMs: now() + timeoutMs, signal: options.signal ?? new AbortController().signal };
    const question: Question<Buffer> = {
      name: 'bytes',
      request,
      span: options.span,
      masterchainSeqno: waitMasterchain?.seqno,
      depth: undefined,
      ...(waitMasterchain === undefined ? {} : { waitMasterchain }),
      judgeAnswer: (answer) => answer,
    };
    const { value } = await flights.run(`bytes ${++unsharedReads}`, waiter, (signal) =>
      ask(question, new Set(), signal),
    );
    return value.value;
  }

  async function ask<T>(question: Question<T>, tried: Set<number>, signal: AbortSignal): Promise<Asked<T>> {
    // A check may take longer than an answer may: that is no fault of the lite server.
    const answered = new Set<number>();
    const asked = new Map<number, Member>();
    const hedges = new Set<number>();
    // A lite server that does not have the block costs another attempt, and no failure that could grow into a storm.
    let misses = 0;
    const methodClass = methodClassOf(question.name);
    hedgeBudget.earn();
    retryBudget.earn();
    const next = (cause: AttemptCause): number | undefined => {
      if (closed) return undefined;
      const chosen = selectLiteServer(
        members.map((member) => member.candidate(methodClass, question.depth)),
        {
          masterchainSeqno: question.masterchainSeqno,
          tried,
          lastGood: lastGood.get(methodClass),
          random: random(),
        },
      );
      const isFree = cause === 'retry' && misses > 0;
      if (isFree) misses -= 1;
      if (chosen === undefined) return undefined;
      if (!isFree && !isPaidFor(cause, isUsable(chosen) && chosen.reaches && chosen.stalled === 0)) return undefined;
      if (cause === 'hedge') hedges.add(chosen.index);
      tried.add(chosen.index);
      return chosen.index;
    };
    try {
      const { value } = await raceAttempts(
        {
          next,
          start: (index, stop) => {
            // It may leave the pool while it is asked.
            const member = memberAt(index);
            asked.set(index, member);
            const onAnswer = (): void => void answered.add(index);
            return attempt(member, question, stop, { onAnswer, onMiss: () => void (misses += 1) });
          },
          isFinal: (error) => judge(error).final,
          onOverdue: (index) => {
            if (!answered.has(index)) asked.get(index)?.overdue(question.name, question.request);
          },
          onSlow: (index) => asked.get(index)?.stalled() ?? (() => undefined),
          slowAfterMs: hedging.delayMs(question.name),
          overdueMs: tuning.overdueMs,
          runningMax: tuning.attemptsRunningMax,
        },
        signal,
      );
      lastGood.set(methodClass, value.liteServer);
      if (hedges.has(value.liteServer)) metrics.hedge('won');
      return value;
    } catch (error) {
      if (closed) throw new PoolError('closed', { attempts: tried.size }, error);
      throw error instanceof AttemptsExhausted ? mostTelling(error.errors) : error;
    }
  }

  /** True when the budgets allow one more query. @param isGood the lite server to ask is likely to answer soon */
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

  async function attempt<T>(
    member: Member,
    question: Question<T>,
    signal: AbortSignal,
    { onAnswer, onMiss }: { onAnswer: () => void; onMiss: () => void },
  ): Promise<Asked<T>> {
    const startedMs = now();
    const attributes = { 'ton.lite_server': member.name, 'ton.function': question.name };
    const span = startSpan(dependencies.tracer, 'pool.attempt', attributes, question.span);
    let outcome = 'ok' as ReturnType<typeof judge>['outcome'];
    const wait = waitFor(member, question);
    try {
      const answer = await member.read(question.request, {
        timeoutMs: tuning.queryTimeoutMs,
        signal,
        span,
        ...wait,
      });
      if (!('waitMasterchain' in wait)) observeAnswer(member, question.name, now() - startedMs);
      onAnswer();
      const deadlineMs = startedMs + tuning.queryTimeoutMs;
      const value = await question.judgeAnswer(answer, { liteServer: member.index, deadlineMs, signal, span });
      member.succeeded('read');
      return { value, liteServer: member.index, bytes: answer.length };
    } catch (error) {
      const verdict = judge(error);
      outcome = signal.aborted ? 'abandoned' : verdict.outcome;
      // A failed proof counts even when nobody waits for the answer any more.
      if (!signal.aborted || verdict.health === 'misbehaved') member.judged('read', verdict, error);
      if (outcome === 'pruned' || outcome === 'lagging') onMiss();
      if (outcome === 'pruned' && reachesDepth(member.depth(), question.depth)) dependencies.onMissing(member.index);
      const hasFailed = verdict.health === 'failed' || verdict.health === 'misbehaved';
      if (!signal.aborted && hasFailed) member.observed(question.name, now() - startedMs, true);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : outcome });
      throw error;
    } finally {
      metrics.attempt(member.name, outcome, (now() - startedMs) / 1000);
      span.setAttribute('ton.outcome', outcome);
      span.end();
    }
  }

  function observeAnswer(member: Member, functionName: string, ms: number): void {
    member.observed(functionName, ms, false);
    hedging.observe(functionName, ms);
  }

  /** A lite server that is a little behind is let wait for the block instead of refusing at once. */
  function waitFor(member: Member, { masterchainSeqno: seqno, waitMasterchain }: Question<unknown>) {
    if (waitMasterchain !== undefined) return { waitMasterchain };
    if (seqno === undefined || lagBlocks({ tipSeqno: member.tip()?.block.seqno }, seqno) === 0) return {};
    return { waitMasterchain: { seqno, timeoutMs: tuning.catchUpMs } };
  }

  function memberAt(index: number): Member {
    const member = members.find((candidate) => candidate.index === index);
    if (member === undefined) throw new RangeError(`no lite server ${index}`);
    return member;
  }

  return {
    query,
    queryBytes,
    cacheBytes: cache.bytes,
    close() {
      closed = true;
      cache.clear();
    },
  };
}

function startSpan(tracer: Tracer, name: string, attributes: Attributes, parent: Span | undefined): Span {
  const active = otelContext.active();
  return tracer.startSpan(name, { attributes }, parent === undefined ? active : trace.setSpan(active, parent));
}
