import type { IncomingMessage, ServerResponse } from 'node:http';

import { HttpError } from './errors.ts';
import type { Exchanges } from './exchange.ts';
import { jsonType } from './headers.ts';
import { hasV3Form, pathOf, routedUrl, rpcPath } from './paths.ts';
import { errorAnswer } from './reply.ts';

/** Simulated treatment of callers, so that a developer can test a client. */
export type CallerConditions = {
  /** Milliseconds that each request waits. */
  readonly delayMs: number;
  /** Percent of requests that get 503. */
  readonly failurePercent: number;
  /** Limit for all callers together; beyond it the answer is 429. 0 means no limit. */
  readonly requestsPerSecond: number;
};

export type ConditionsDependencies = {
  readonly conditions: () => CallerConditions;
  /** Milliseconds. */
  readonly nowMs: () => number;
  /** 0 up to 1. */
  readonly random: () => number;
  readonly exchanges: Pick<Exchanges, 'note'>;
  /** Returns the headers of every answer to a URL. */
  readonly headersOf: (url: string) => Readonly<Record<string, string>>;
};

/** Passes a request on at once, later or never, as the current conditions say. Applies to operations, not to pages, streams and the faucet. */
export type ConditionsStage = (message: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** Paths of v2, v3 and the emulation, their documents aside. */
const operationPath = /^\/api\/(?:v[23]|emulate\/v1)\/(?!docs(?:\/|$)|openapi\.json$)/;

export function createConditionsStage({
  conditions,
  nowMs,
  random,
  exchanges,
  headersOf,
}: ConditionsDependencies): ConditionsStage {
  let second = 0;
  let taken = 0;

  const isOver = (requestsPerSecond: number): boolean => {
    const now = Math.floor(nowMs() / 1000);
    if (now !== second) [second, taken] = [now, 0];
    return ++taken > requestsPerSecond;
  };

  const refusal = ({ failurePercent, requestsPerSecond }: CallerConditions): HttpError | undefined => {
    if (requestsPerSecond > 0 && isOver(requestsPerSecond)) {
      return new HttpError('rate_limited', 'rate_limited', { retryAfterSeconds: 1 });
    }
    return random() * 100 < failurePercent ? new HttpError('condition_failed') : undefined;
  };

  const refuse = (
    error: HttpError,
    { method = 'GET', headers, url = '/' }: IncomingMessage,
    raw: ServerResponse,
  ): void => {
    const routed = routedUrl(url);
    let bytes = 0;
    const exchange = exchanges.note({ method, url: routed, headers }, { raw, bytes: () => bytes });
    const mark = pathOf(routed) === rpcPath ? {} : undefined;
    const { envelope } = exchange;
    const { status, body, headers: further, errorCode } = errorAnswer(error, exchange.extra(), { envelope, mark });
    const text = typeof body === 'string' ? body : body.join('');
    bytes = Buffer.byteLength(text);
    Object.assign(exchange, { operation: 'condition', errorCode });
    raw.writeHead(status, {
      ...headersOf(routed),
      ...further,
      ...(hasV3Form(routed) && { 'server-timing': `app;dur=${exchange.elapsedMs().toFixed(3)}ms` }),
      'content-type': jsonType,
      connection: 'close',
    });
    raw.end(text);
  };

  return (message, response, next) => {
    const url = routedUrl(message.url ?? '/');
    const current = conditions();
    const isFree = current.delayMs === 0 && current.failurePercent === 0 && current.requestsPerSecond === 0;
    if (isFree || message.method === 'OPTIONS' || !operationPath.test(pathOf(url))) {
      next();
      return;
    }
    const goOn = (): void => {
      if (response.destroyed) return;
      const error = refusal(current);
      if (error === undefined) {
        next();
        return;
      }
      refuse(error, message, response);
    };
    if (current.delayMs === 0) goOn();
    else setTimeout(goOn, current.delayMs);
  };
}
