import type { Readiness } from '../http/internal-server.ts';
import type { Pool } from '../pool/pool.ts';

/** Whether a process that reads lite servers can do its work, and why not. */
export function readinessOf(
  pool: Pick<Pool, 'head' | 'ready'>,
  facts: {
    readonly draining: boolean;
    /** Why the index cannot be read; undefined when it can, or when there is none. */
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
