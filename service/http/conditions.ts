import type { IncomingMessage, ServerResponse } from 'node:http';

import { HttpError } from './errors.ts';
import { jsonType } from './headers.ts';
import { pathOf, routedUrl } from './paths.ts';
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
  /** Returns the headers of every answer to a URL. */
  readonly headersOf: (url: string) => Readonly<Record<string, string>>;
};

/** Passes a request on at once, later or never, as the current conditions say. Applies to operations, not to pages and the faucet. */
export type ConditionsStage = (message: IncomingMessage, response: ServerResponse, next: () => void) => void;

export function createConditionsStage({
  conditions,
  nowMs,
  random,
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

  return (message, response, next) => {
    const url = routedUrl(message.url ?? '/');
    const current = conditions();
    const isFree = current.delayMs === 0 && current.failurePercent === 0 && current.requestsPerSecond === 0;
    if (isFree || message.method === 'OPTIONS' || !/^\/api\/v[23]\/(?!docs\/|openapi\.json$)/.test(pathOf(url))) {
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
      const { status, body, headers } = errorAnswer(error, '');
      response.writeHead(status, { ...headersOf(url), ...headers, 'content-type': jsonType, connection: 'close' });
      response.end(typeof body === 'string' ? body : body.join(''));
    };
    if (current.delayMs === 0) goOn();
    else setTimeout(goOn, current.delayMs);
  };
}
