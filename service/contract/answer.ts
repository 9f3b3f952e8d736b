import type { Span } from '@opentelemetry/api';

import type { ReadAccess } from '../pool/read-access.ts';
import type { ReadEvent } from '../pool/read-event.ts';
import type { MethodTerms, ThreadBudget } from '../tvm/bill.ts';

/** Bounds and trace of a read; made once for each HTTP request. */
export type ReadContext = {
  /** When the caller stops waiting, in milliseconds of `performance.now()`. */
  readonly deadlineMs: number;
  /** Aborted when the caller went away or the deadline passed. */
  readonly signal: AbortSignal;
  /** The request's span; attempts become its children. */
  readonly span?: Span;
  /** Lite servers that the caller may cause to be asked; absent: all. */
  readonly access?: ReadAccess;
  /** Caller id: short, not secret. Used for fair queueing and monotonic reads. */
  readonly caller?: string;
  /** Bounds of get-methods; absent: the service's own, and the caller pays. */
  readonly getMethods?: MethodTerms;
  /** Thread time of all runs of contracts together; absent: each run has its own bound alone. */
  readonly threadBudget?: ThreadBudget;
  /** Receives events of work done for the request. */
  readonly observe?: (event: ReadEvent) => void;
};

/** A value read from lite servers, with what it took. */
export type LiveAnswer<T> = {
  readonly value: T;
  /** Zero-based indexes, in configuration order, of the lite servers whose answers were used; empty when none was asked. */
  readonly liteServers: readonly number[];
  /** True when the value came from a cache alone. */
  readonly cached: boolean;
};

/** A value made of several answers: the lite servers of all of them; from a cache when all were. */
export function joinAnswers<T>(value: T, answers: readonly LiveAnswer<unknown>[]): LiveAnswer<T> {
  return {
    value,
    liteServers: [...new Set(answers.flatMap(({ liteServers }) => liteServers))],
    cached: answers.every(({ cached }) => cached),
  };
}
