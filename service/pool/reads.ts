import { SpanStatusCode } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';

import type { LiteServerFunction } from '../liteserver/functions.ts';
import type { QueryOptions } from '../liteserver/liteserver.ts';
import type { ProofMetrics } from '../proof/metrics.ts';
import type { ReadAccess } from './read-access.ts';
import { createBoundedCache } from '../runtime/bounded-cache.ts';
import type { Requirement } from './lite-server-picker.ts';
import { PoolError } from './errors.ts';
import { createFailover } from './failover.ts';
import type { FailoverDependencies } from './failover.ts';
import { createNegativeAnswers } from './negative-answers.ts';
import type { PoolTuning } from './options.ts';
import type { Question, Rights } from './question.ts';
import { fromMemory } from './read-event.ts';
import type { ReadEvent, ReadSource } from './read-event.ts';
import type { SharedAnswers } from './redis/shared-answers.ts';
import { createSingleFlight } from './single-flight.ts';
import { startSpan } from './spans.ts';

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
  /** Bytes of a value in the cache; default: twice the answer. */
  readonly weigh?: (value: T) => number;
  /**
   * Masterchain block that the answer needs; absent: the block of the function's definition. Lite servers with the block are asked first, others wait
   * for it.
   */
  readonly masterchainSeqno?: number;
};

export type PoolAnswer<T> = {
  readonly value: T;
  /** Zero-based indexes, in configuration order, of the lite servers whose answers were used; empty from a cache. */
  readonly liteServers: readonly number[];
  /** True for a value from this pod's memory or the shared cache. */
  readonly cached: boolean;
};

/**
 * Reads by one function, with cache, single flight and failover. An answer with a proof needs the check of that proof. Rejects with PoolError, or with
 * the error of the last lite server.
 */
export type Query = {
  <A, R, T = R>(
    fn: LiteServerFunction<A, R, 'none'>,
    args: A,
    context: PoolContext,
    options?: PoolQueryOptions<R, T>,
  ): Promise<PoolAnswer<T>>;
  <A, R, T>(
    fn: LiteServerFunction<A, R>,
    args: A,
    context: PoolContext,
    options: PoolQueryOptions<R, T> & Required<Pick<PoolQueryOptions<R, T>, 'check'>>,
  ): Promise<PoolAnswer<T>>;
};

export type Reads = {
  readonly query: Query;
  /** Exchanges bytes unchecked, with the failover of a read and no other features. */
  readonly queryBytes: (request: Buffer, options: QueryOptions) => Promise<Buffer>;
  readonly cacheBytes: () => number;
  /** Makes later reads reject with PoolError `closed`. Reads in progress reject when their lite servers are closed. */
  close(): void;
};

export type ReadsDependencies = Omit<FailoverDependencies, 'isClosed'> & {
  readonly proofs: ProofMetrics;
  /** Shared cache; absent when only this process caches. */
  readonly sharedAnswers?: SharedAnswers | undefined;
};

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
  const { metrics, choice, sharedAnswers, now } = dependencies;
  const cache = createBoundedCache({ bytesMax: tuning.cacheBytesMax });
  const negatives = createNegativeAnswers({ now });
  const flights = createSingleFlight({ now });
  const isClosed = (): boolean => closed;
  const ask = createFailover(tuning, { ...dependencies, isClosed });
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
    const { check, shareAs, immutable, weigh } = options;
    const shared = immutable === true && fn.proof !== 'none' ? sharedAnswers : undefined;
    const key = shareAs === undefined ? `unshared ${++unsharedReads}` : `${shareAs} ${request.toString('latin1')}`;
    const cached = immutable ? cache.get(key) : undefined;
    if (cached !== undefined) {
      metrics.read('cache');
      context.observe?.(fromMemory);
      // The key names request and check, so this check made the cached value.
      return { value: cached as T, liteServers: [], cached: true };
    }
    const wanted = wantedBy(fn, args, options.masterchainSeqno, context);
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
        if (check === undefined) return decoded as unknown as T;
        return runCheck(fn.name, decoded, check, attempted, dependencies);
      },
    };
    const tried = askedFor.get(flightKey) ?? new Set<number>();
    context.observe?.({ kind: 'asked', liteServers: tried });
    const work = async (signal: AbortSignal): Promise<FlightResult<T>> => {
      askedFor.set(flightKey, tried);
      try {
        const known = shared && (await askShared(question, signal, tuning, { ...dependencies, shared }));
        const { value, answer, liteServer } = known ?? (await ask(question, tried, signal));
        const valueBytes = weigh?.(value) ?? 2 * answer.length;
        if (immutable) cache.set(key, value, request.length + valueBytes + CACHE_ENTRY_BYTES);
        if (liteServer === undefined) return { value, liteServers: [], source: 'redis', events };
        shared?.write(request, answer);
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

/** Returns the requirements of a read on lite servers, from its function, arguments and caller. */
function wantedBy<A>(
  fn: LiteServerFunction<A, unknown>,
  args: A,
  masterchainSeqno = fn.waitsFor(args),
  { access, isUrgent = false }: PoolContext,
): Requirement {
  return {
    methodClass: fn.cost,
    masterchainSeqno,
    depth: fn.depth(args),
    places: fn.positions(args),
    access,
    isUrgent,
  };
}

/** Returns the answer of the shared cache, checked like an answer of a lite server. Undefined when there is none or its check failed. */
async function askShared<T>(
  question: Question<T>,
  signal: AbortSignal,
  { queryTimeoutMs }: Pick<PoolTuning, 'queryTimeoutMs'>,
  { shared, metrics, now }: { readonly shared: SharedAnswers } & Pick<ReadsDependencies, 'metrics' | 'now'>,
) {
  const answer = await shared.read(question.request);
  if (answer === undefined) return undefined;
  const { span, observe } = question;
  const deadlineMs = now() + queryTimeoutMs;
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
    shared.drop(question.request);
    return undefined;
  }
}

/** Runs a check, counted and timed under the function's name, and traced below the attempt. */
async function runCheck<R, T>(
  kind: string,
  answer: R,
  check: NonNullable<PoolQueryOptions<R, T>['check']>,
  attempted: CheckedAttempt,
  { tracer, proofs }: Pick<ReadsDependencies, 'tracer' | 'proofs'>,
): Promise<T> {
  const span = startSpan(tracer, 'proof', { 'ton.function': kind }, attempted.span);
  try {
    return await proofs.measure(kind, () => check(answer, { ...attempted, span }));
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : 'failed' });
    throw error;
  } finally {
    span.end();
  }
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
