import type { Span, Tracer } from '@opentelemetry/api';
import { context, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { createRandomStock } from './adnl/random-stock.ts';
import { answeredError, LiteServerError } from './errors.ts';
import type { LiteServerErrorCode } from './errors.ts';
import type { LiteServerMetrics, QueryOutcome } from './metrics.ts';
import { errorAnswer } from './tl/envelope.ts';

/** Query before it is sent. */
export type Question<T> = {
  readonly functionName: string;
  /** The enveloped request. */
  readonly query: Buffer;
  /** Converts the answer to the value. An error that it throws becomes the cause of a `protocol` error. */
  readonly read: (answer: Buffer) => T;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly span?: Span | undefined;
};

type Send = (queryId: Buffer, query: Buffer) => void;

/** Unanswered queries of one lite server. Each has one timer, and nothing once it is settled. */
export type PendingQueries = {
  /** Sends now or when a connection is ready. Settles by answer, timeout, abort or `failAll`. Rejects with LiteServerError. */
  start<T>(question: Question<T>): Promise<T>;
  answered(queryId: Buffer, answer: Buffer): void;
  /** Called when a connection is ready: sends waiting queries, then each new query at once. */
  sendThrough(send: Send): void;
  /** Called when the connection is gone: new queries wait. */
  stopSending(): void;
  failAll(code: LiteServerErrorCode, text: string, cause?: unknown): void;
  size(): number;
};

type Pending = {
  readonly queryId: Buffer;
  readonly query: Buffer;
  answered(answer: Buffer): void;
  failed(code: LiteServerErrorCode, text: string, cause?: unknown): void;
};

export function createPendingQueries(dependencies: {
  readonly liteServer: string;
  readonly metrics: LiteServerMetrics;
  readonly tracer?: Tracer | undefined;
}): PendingQueries {
  const { liteServer, metrics, tracer } = dependencies;
  const nextQueryId = createRandomStock(32);
  /** Queries by id; the 32 bytes are a string of 32 characters. */
  const pending = new Map<string, Pending>();
  let send: Send | undefined;

  function startSpan({ functionName, span }: Question<unknown>): Span | undefined {
    if (span !== undefined && (span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
    return tracer?.startSpan(
      'liteserver.query',
      { kind: SpanKind.CLIENT, attributes: { 'ton.lite_server': liteServer, 'ton.function': functionName } },
      span === undefined ? context.active() : trace.setSpan(context.active(), span),
    );
  }

  function start<T>(question: Question<T>): Promise<T> {
    const { functionName, query, read, timeoutMs, signal } = question;
    return new Promise<T>((resolve, reject) => {
      const queryId = Buffer.from(nextQueryId());
      const key = queryId.toString('latin1');
      const startedMs = performance.now();
      const span = startSpan(question);
      const timer = setTimeout(() => failed('timeout', `no answer in ${timeoutMs} ms`), timeoutMs);
      const onAbort = (): void => failed('aborted', 'the caller gave up');

      function settle(outcome: QueryOutcome): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        pending.delete(key);
        metrics.inFlight(pending.size);
        metrics.query(functionName, outcome, (performance.now() - startedMs) / 1000);
        span?.setAttribute('ton.outcome', outcome);
        if (outcome !== 'ok') span?.setStatus({ code: SpanStatusCode.ERROR });
        span?.end();
      }

      function rejected(error: LiteServerError): void {
        settle(error.code);
        reject(error);
      }

      function failed(code: LiteServerErrorCode, text: string, cause?: unknown): void {
        rejected(new LiteServerError(code, { serverCode: undefined, text, function: functionName }, cause));
      }

      function answered(answer: Buffer): void {
        let value: T;
        try {
          const serverError = errorAnswer(answer);
          if (serverError !== undefined) {
            rejected(answeredError(functionName, serverError.code, serverError.text));
            return;
          }
          value = read(answer);
        } catch (error) {
          failed('protocol', `the answer cannot be read: ${String(error)}`, error);
          return;
        }
        settle('ok');
        resolve(value);
      }

      signal?.addEventListener('abort', onAbort);
      pending.set(key, { queryId, query, answered, failed });
      metrics.inFlight(pending.size);
      send?.(queryId, query);
    });
  }

  return {
    start,
    // An answer to no query came after its deadline.
    answered: (queryId, answer) => pending.get(queryId.toString('latin1'))?.answered(answer),
    sendThrough(through) {
      send = through;
      for (const { queryId, query } of pending.values()) through(queryId, query);
    },
    stopSending() {
      send = undefined;
    },
    failAll(code, text, cause) {
      for (const query of pending.values()) query.failed(code, text, cause);
    },
    size: () => pending.size,
  };
}
