import { context as otelContext, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { Attributes, Span, Tracer } from '@opentelemetry/api';

import type { LiteServerError } from '../liteserver/errors.ts';
import type { LiteServerFunction } from '../liteserver/functions.ts';
import type { QueryOptions } from '../liteserver/liteserver.ts';
import type { ProofMetrics } from '../proof/metrics.ts';
import type { ReadAccess } from './read-access.ts';
import { createBoundedCache } from '../runtime/bounded-cache.ts';
import { AttemptsExhausted, raceAttempts } from './attempts.ts';
import type { AttemptCause } from './attempts.ts';
import { createBudget } from './budget.ts';
import type { Picker, Requirement } from './lite-server-picker.ts';
import { depthNeedOf, reachesDepth } from './depth.ts';
import { PoolError } from './errors.ts';
import { createHedging } from './hedging.ts';
import type { Member } from './member.ts';
import { methodClassOf } from './method-class.ts';
import type { PoolMetrics } from './metrics.ts';
import { createNegativeAnswers } from './negative-answers.ts';
import type { PoolTuning } from './options.ts';
import { fromMemory } from './read-event.ts';
import type { ReadEvent, ReadSource } from './read-event.ts';
import type { SharedAnswers } from './redis/shared-answers.ts';
import { isUsable, lagBlocks } from './selection.ts';
import { createSingleFlight } from './single-flight.ts';
import { placesOf } from './slices.ts';
import { commonAbsence, judge, mostInformativeError } from './verdict.ts';
import type { AdmissionQueue } from './admission-queue.ts';

/** Bounds and trace of a read; `live`'s ReadContext is one. */
export type PoolContext = {
  /** Milliseconds of the pool's clock (`performance.now()`). */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly span?: Span;
  /** Lite servers that the caller may use; absent for the pool itself: all. */
  readonly access?: ReadAccess;
  /** Urgent: other work waits for it, so it may use reserved slots. */
  readonly isUrgent?: boolean;
  /** Caller id: short, not secret. Used for fair queueing and monotonic reads. */
  readonly caller?: string;
  /** Called with each event of the request. */
  readonly observe?: (event: ReadEvent) => void;
};

/** Attempt whose answer is checked. Further reads of the check run under it, because a read may have several waiters. */
export type CheckedAttempt = PoolContext & {
  /** Zero-based, in configuration order; undefined for an answer of the shared cache. */
  readonly liteServer: number | undefined;
};

export type PoolQueryOptions<R, T> = {
  /**
   * Checks the answer and makes its value. A ProofError means that the lite server lies: it is ejected, and another one is asked. Any other
   * TonplaneError only makes another server be asked. Another error is a fault in the check and ends the read.
   */
  readonly check?: (answer: R, attempt: CheckedAttempt) => T | Promise<T>;
  /**
   * Name of the check. Reads with the same request and name share one query, and one cached value when `immutable`. Absent: the read is not shared.
   */
  readonly shareAs?: string;
  /** True when the value can never change: a read pinned to a full block id. */
  readonly immutable?: boolean;
  /** Masterchain block that the answer needs. Lite servers with the block are asked first, others wait for it. */
  readonly masterchainSeqno?: number;
};

export type PoolAnswer<T> = {
  readonly value: T;
  /** Zero-based indexes, in configuration order, of the lite servers whose answers were used; empty from a cache. */
  readonly liteServers: readonly number[];
  /** True for a value from this pod's memory or the shared cache. */
  readonly cached: boolean;
};

export type Reads = {
  readonly query: <A, R, T = R>(
    fn: LiteServerFunction<A, R>,
    args: A,
    context: PoolContext,
    options?: PoolQueryOptions<R, T>,
  ) => Promise<PoolAnswer<T>>;
  /** Exchanges bytes unchecked, with the failover of a read and no other features. */
  readonly queryBytes: (request: Buffer, options: QueryOptions) => Promise<Buffer>;
  readonly cacheBytes: () => number;
  /** Makes later reads reject with PoolError `closed`. Reads in progress reject when their lite servers are closed. */
  close(): void;
};

export type ReadsDependencies = {
  readonly members: readonly Member[];
  readonly metrics: PoolMetrics;
  readonly proofs: ProofMetrics;
  readonly tracer: Tracer;
  readonly choice: Picker;
  /** Line of reads that wait for lite servers with room. */
  readonly line: AdmissionQueue;
  /** Shared cache; absent when only this process caches. */
  readonly sharedAnswers?: SharedAnswers | undefined;
  /** Called when a lite server lacks an old block or state that it was expected to have. */
  readonly onMissing: (liteServer: number) => void;
  readonly now: () => number;
};

/** Part of a context that applies to all queries under it. */
type Rights = Pick<PoolContext, 'access' | 'isUrgent' | 'caller'>;

/** Read as its attempts see it. */
type Question<T> = {
  readonly name: string;
  readonly request: Buffer;
  readonly span: Span | undefined;
  readonly deadlineMs: number;
  /** Rights for further reads of a check. */
  readonly rights: Rights;
  readonly wanted: Requirement;
  /** Wait given by the caller itself. */
  readonly waitMasterchain?: QueryOptions['waitMasterchain'];
  /** Called when every asked lite server lacks the data. */
  readonly onAbsent?: (error: LiteServerError) => void;
  /** Called with the attempts, and with the reads of a check. */
  readonly observe: (event: ReadEvent) => void;
  readonly judgeAnswer: (answer: Buffer, attempt: CheckedAttempt) => T | Promise<T>;
};

type AttemptResult<T> = { readonly value: T; readonly liteServer: number; readonly answer: Buffer };

/** Result of one flight, shared by all its waiters. */
type FlightResult<T> = {
  readonly value: T;
  readonly liteServers: readonly number[];
  readonly source: Extract<ReadSource, 'lite_server' | 'redis'>;
  readonly events: readonly ReadEvent[];
};

/** Bytes that a cached value weighs on top of twice its answer, for bytes that it references and the value itself. */
const CACHE_ENTRY_BYTES = 1_024;

/** Reads over several lite servers: cache, single flight, attempts, judgement. */
export function createReads(tuning: PoolTuning, dependencies: ReadsDependencies): Reads {
  const { members, metrics, proofs, choice, line, sharedAnswers, now } = dependencies;
  const cache = createBoundedCache({ bytesMax: tuning.cacheBytesMax });
  const negatives = createNegativeAnswers({ now });
  const flights = createSingleFlight({ now });
  const hedging = createHedging({ msMin: tuning.hedgeMsMin, msMax: tuning.slowAfterMs });
  const hedgeBudget = createBudget(tuning.hedgeBudget, { now });
  const retryBudget = createBudget(tuning.retryBudget, { now });
  /** Servers asked by the reads in progress, by key. */
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
      context.observe?.(fromMemory);
      // The key names request and check, so this check made the cached value.
      return { value: held as T, liteServers: [], cached: true };
    }
    const { access, isUrgent = false } = context;
    const wanted: Requirement = {
      methodClass: methodClassOf(fn.name),
      masterchainSeqno: options.masterchainSeqno,
      depth: depthNeedOf(fn.name, args),
      places: placesOf(fn.name, args),
      access,
      isUrgent,
    };
    // An answer is valid for all callers. A refusal is valid only for callers with the same lite servers.
    const flightKey = shareAs === undefined ? key : `${choice.forbidden(wanted)} ${key}`;
    const refusal = negatives.get(flightKey);
    if (refusal !== undefined) {
      metrics.read('negative');
      context.observe?.(fromMemory);
      throw refusal;
    }
    const events: ReadEvent[] = [];
    const question: Question<T> = {
      name: fn.name,
      request,
      span: context.span,
      deadlineMs: context.deadlineMs,
      rights: rightsOf(context),
      wanted,
      observe: (event) => void events.push(event),
      ...(shareAs !== undefined && { onAbsent: (error) => negatives.add(flightKey, error) }),
      judgeAnswer: (answer, attempted) => {
        const decoded = fn.decode(answer);
        // Without a check the value is the answer: T is R then.
        return check === undefined ? (decoded as unknown as T) : runCheck(fn.name, decoded, check, attempted);
      },
    };
    const tried = askedFor.get(flightKey) ?? new Set<number>();
    context.observe?.({ kind: 'asked', liteServers: tried });
    const work = async (signal: AbortSignal): Promise<FlightResult<T>> => {
      askedFor.set(flightKey, tried);
      try {
        const known = immutable ? await askShared(question, signal) : undefined;
        const { value, answer, liteServer } = known ?? (await ask(question, tried, signal));
        if (immutable) cache.set(key, value, request.length + 2 * answer.length + CACHE_ENTRY_BYTES);
        if (liteServer === undefined) return { value, liteServers: [], source: 'redis', events };
        if (immutable) sharedAnswers?.write(request, answer);
        return { value, liteServers: [liteServer], source: 'lite_server', events };
      } finally {
        // A flight without waiters may have a successor.
        if (askedFor.get(flightKey) === tried) askedFor.delete(flightKey);
      }
    };
    try {
      const { value: landed, joined } = await flights.run(flightKey, context, work);
      const { value, liteServers } = landed;
      const source = joined ? 'joined' : landed.source;
      metrics.read(source);
      tell(context, landed.events, { source, liteServers });
      return { value, liteServers, cached: landed.source === 'redis' };
    } catch (error) {
      tell(context, events, { source: 'failed', liteServers: [] });
      throw error;
    }
  }

  /** Returns the answer of the shared cache, checked like an answer of a lite server. Undefined when there is none or its check failed. */
  async function askShared<T>(question: Question<T>, signal: AbortSignal) {
    const answer = await sharedAnswers?.read(question.request);
    if (answer === undefined) return undefined;
    const { span, observe } = question;
    const deadlineMs = now() + tuning.queryTimeoutMs;
    try {
      const attempted = {
        ...question.rights,
        liteServer: undefined,
        deadlineMs,
        signal,
        observe,
        ...(span !== undefined && { span }),
      };
      return { value: await question.judgeAnswer(answer, attempted), answer, liteServer: undefined };
    } catch (error) {
      if (signal.aborted) throw error;
      metrics.badShared();
      sharedAnswers?.drop(question.request);
      return undefined;
    }
  }

  /** Runs a check, counted and timed under the function's name, and traced below the attempt. */
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
      deadlineMs: waiter.deadlineMs,
      rights: {},
      wanted: {
        methodClass: 'light',
        masterchainSeqno: waitMasterchain?.seqno,
        depth: undefined,
        places: undefined,
        access: undefined,
        isUrgent: false,
      },
      observe: () => undefined,
      ...(waitMasterchain === undefined ? {} : { waitMasterchain }),
      judgeAnswer: (answer) => answer,
    };
    const { value } = await flights.run(`bytes ${++unsharedReads}`, waiter, (signal) =>
      ask(question, new Set(), signal),
    );
    return value.value;
  }

  async function ask<T>(question: Question<T>, tried: Set<number>, signal: AbortSignal): Promise<AttemptResult<T>> {
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
      if (closed) return undefined;
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
            return attempt(member, question, stop, { onAnswer, onMiss: () => void (hasMissed = true) });
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
      choice.good(wanted.methodClass, value.liteServer);
      if (hedges.has(value.liteServer)) metrics.hedge('won');
      return value;
    } catch (error) {
      if (closed) throw new PoolError('closed', { attempts: tried.size }, error);
      if (!(error instanceof AttemptsExhausted)) throw error;
      const absence = commonAbsence(error.errors);
      if (absence !== undefined) question.onAbsent?.(absence);
      throw mostInformativeError(error.errors);
    } finally {
      question.observe({ kind: 'read', source: 'lite_server', liteServers: [], attempts: tried.size });
    }
  }

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

  async function attempt<T>(
    member: Member,
    question: Question<T>,
    signal: AbortSignal,
    { onAnswer, onMiss }: { onAnswer: () => void; onMiss: () => void },
  ): Promise<AttemptResult<T>> {
    const startedMs = now();
    const attributes = { 'ton.lite_server': member.name, 'ton.function': question.name };
    const span = startSpan(dependencies.tracer, 'pool.attempt', attributes, question.span);
    let outcome = 'ok' as ReturnType<typeof judge>['outcome'];
    const wait = waitFor(member, question);
    const leave = member.takePlace();
    try {
      const answer = await member.read(question.request, {
        timeoutMs: tuning.queryTimeoutMs,
        signal,
        span,
        ...wait,
      });
      if (!('waitMasterchain' in wait)) observeAnswer(member, question.name, now() - startedMs);
      leave();
      onAnswer();
      const deadlineMs = startedMs + tuning.queryTimeoutMs;
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
      if (outcome === 'pruned' && reachesDepth(member.depth(), question.wanted.depth))
        dependencies.onMissing(member.index);
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
  }

  function observeAnswer(member: Member, functionName: string, ms: number): void {
    member.observed(functionName, ms, false);
    hedging.observe(functionName, ms);
  }

  /** Lets a lite server that is a little behind wait for the block instead of refusing at once. */
  function waitFor(member: Member, { wanted: { masterchainSeqno: seqno }, waitMasterchain }: Question<unknown>) {
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

function rightsOf({ access, isUrgent, caller }: PoolContext): Rights {
  return {
    ...(access !== undefined && { access }),
    ...(isUrgent !== undefined && { isUrgent }),
    ...(caller !== undefined && { caller }),
  };
}

/** Reports a read to one waiter. The attempts of a flight and of the reads of its check are one sum. */
function tell(
  { observe }: PoolContext,
  events: readonly ReadEvent[],
  { source, liteServers }: { source: ReadSource | 'failed'; liteServers: readonly number[] },
): void {
  if (observe === undefined) return;
  const attempts = events.reduce((sum, event) => sum + (event.kind === 'read' ? event.attempts : 0), 0);
  observe({ kind: 'read', source, liteServers, attempts });
}

/** Starts a span. Without a trace there are no parts, and the parent stands for them. */
function startSpan(tracer: Tracer, name: string, attributes: Attributes, parent: Span | undefined): Span {
  if (parent !== undefined && (parent.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return parent;
  const active = otelContext.active();
  return tracer.startSpan(name, { attributes }, parent === undefined ? active : trace.setSpan(active, parent));
}
