import { isSpanContextValid, type Span, type Tracer } from '@opentelemetry/api';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

import { redactUrl } from './api-key.ts';
import { emulateEnvelope, extraText, v2Envelope, v3Envelope, type Envelope } from './envelope.ts';
import type { HttpMetrics } from './metrics.ts';
import type { Clock } from './options.ts';
import { contractOf, type Contract } from './paths.ts';
import { CALLER_GONE_STATUS } from './error-status.ts';
import { endRequestSpan, startRequestSpan } from './tracing.ts';

/** Record of one request, from its headers to the end of its answer. It then becomes a log line, a span and metrics. */
export type Exchange = {
  /** Operation or page for metrics and traces: of a bounded set. */
  operation: string;
  /** Error code of the answer, if any. */
  errorCode: string | undefined;
  /** Text of that error. */
  errorText: string | undefined;
  /** Lite servers whose answers were used. */
  liteServers: readonly number[];
  readonly span: Span;
  /** Envelope of the path's contract. */
  readonly envelope: Envelope;
  /** Time since its headers came. */
  elapsedMs(): number;
  /** `@extra` of an answer made now. */
  extra(liteServers?: readonly number[], cached?: boolean): string;
  /** Ends the exchange before its connection: the answer has become a stream. */
  leave(status: number): void;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent before the first hook. Entries of a WeakMap would outlive the collections of young objects, and their requests with them. */
    exchange?: Exchange;
  }
}

/** Registry of the exchanges in progress. */
export type Exchanges = {
  /** Starts an exchange. It ends by itself when its answer is sent or its connection is closed. */
  begin(request: FastifyRequest, reply: FastifyReply): Exchange;
  /** Starts an exchange for a request that the listener itself answers. */
  note(head: RequestHead, answer: NotedAnswer): Exchange;
  /** Returns the exchange of a request that began. */
  of(request: FastifyRequest): Exchange;
  readonly inFlight: number;
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
};

export type RequestHead = {
  readonly method: string;
  /** URL as routes match it. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
};

export type NotedAnswer = {
  readonly raw: ServerResponse;
  /** Bytes of its body, once it is sent. */
  readonly bytes: () => number;
};

export type ExchangesDependencies = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly metrics: HttpMetrics;
};

export function createExchanges({ clock, logger, tracer, metrics }: ExchangesDependencies): Exchanges {
  let inFlight = 0;
  let idleWaiters: (() => void)[] = [];

  const end = (
    exchange: Exchange,
    startedMs: number,
    request: RequestHead,
    answer: NotedAnswer & { readonly status: number },
  ): void => {
    inFlight--;
    const { status } = answer;
    const elapsedMs = clock.nowMs() - startedMs;
    const bytes = answer.bytes();
    const { operation, errorCode: code, errorText } = exchange;
    metrics.end({ operation, status, seconds: elapsedMs / 1000, bytes });
    endRequestSpan(exchange.span, { name: `${request.method} ${operation}`, status, code });
    const level = levelOf(status);
    if (!logger.isLevelEnabled(level)) return settle();
    const line = {
      method: request.method,
      url: redactUrl(request.url),
      operation,
      status,
      ...(code !== undefined && { code }),
      ...(errorText !== undefined && { reason: errorText.slice(0, REASON_CHARACTERS_MAX) }),
      liteServers: exchange.liteServers,
      elapsedMs: Number(elapsedMs.toFixed(3)),
      bytes,
      ...(isSpanContextValid(exchange.span.spanContext()) && { traceId: exchange.span.spanContext().traceId }),
    };
    logger[level](line, 'request');
    settle();
  };

  const settle = (): void => {
    if (inFlight > 0) return;
    idleWaiters.forEach((resolve) => resolve());
    idleWaiters = [];
  };

  const note = (request: RequestHead, answer: NotedAnswer): Exchange => {
    const startedMs = clock.nowMs();
    const { method, headers } = request;
    const { raw } = answer;
    let isOver = false;
    const endOnce = (status: number): void => {
      if (isOver) return;
      isOver = true;
      // A stream stays open for hours: its answer must not refer to its request.
      raw.off('close', onClose);
      end(exchange, startedMs, request, { ...answer, status });
    };
    const onClose = (): void => endOnce(raw.writableFinished ? raw.statusCode : CALLER_GONE_STATUS);
    const exchange: Exchange = {
      operation: 'unknown',
      errorCode: undefined,
      errorText: undefined,
      liteServers: [],
      envelope: envelopes[contractOf(request.url)],
      span: startRequestSpan(tracer, { method, headers, shownUrl: () => redactUrl(request.url) }),
      elapsedMs: () => clock.nowMs() - startedMs,
      extra: (liteServers = [], cached = false) =>
        extraText({
          unixSeconds: Math.floor(clock.unixMs() / 1000),
          liteServers,
          elapsedMs: exchange.elapsedMs(),
          cached,
        }),
      leave: endOnce,
    };
    inFlight++;
    metrics.begin();
    raw.once('close', onClose);
    return exchange;
  };

  return {
    begin(request, reply) {
      const bytes = (): number => Number(reply.getHeader('content-length') ?? 0);
      const exchange = note(request, { raw: reply.raw, bytes });
      request.exchange = exchange;
      return exchange;
    },
    note,
    of({ exchange }) {
      if (exchange === undefined) throw new Error('the request has no exchange: its first hook did not run');
      return exchange;
    },
    get inFlight() {
      return inFlight;
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve))),
  };
}

const envelopes: Readonly<Record<Contract, Envelope>> = {
  v2: v2Envelope,
  v3: v3Envelope,
  emulate: emulateEnvelope,
  streaming: v3Envelope,
};

/** Part of an error's text that a line has: up to the exit code of a refused message. */
const REASON_CHARACTERS_MAX = 320;

/** A client far over its limit must not fill the log. Such refusals are counted, and logged with the level `debug`. */
function levelOf(status: number): 'debug' | 'info' | 'warn' {
  if (status >= 500) return 'warn';
  return status === 429 ? 'debug' : 'info';
}
