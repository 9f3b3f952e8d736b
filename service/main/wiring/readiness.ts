import type { Readiness } from '#service/http/internal-server.ts';
import type { Pool } from '#service/pool/pool.ts';

/** Returns the readiness of a process that reads lite servers, with reasons when it is not ready. */
export function readinessOf(
  pool: Pick<Pool, 'head' | 'ready'>,
  facts: {
    readonly draining: boolean;
    /** Reason why the index cannot be read; undefined when it can, or without an index. */
    readonly unreadable: string | undefined;
  },
): Readiness {
  const reasons = [
    ...(facts.draining ? ['draining'] : []),
    ...(pool.head() === undefined ? ['waiting for the first masterchain head'] : []),
    ...(pool.ready() || pool.head() === undefined ? [] : ['no usable lite server']),
    ...(facts.unreadable === undefined ? [] : [facts.unreadable]),
  ];
  return { ready: reasons.length === 0, reasons };
}
