import { TonplaneError } from '../error.ts';
import { StoreError } from '../store/errors.ts';
import { InterpreterError } from './errors.ts';

/** Stage of the interpreter: a label of metrics. */
export type Stage = 'schema' | 'claim' | 'read' | 'detect' | 'write' | 'progress';

export function isClaimLost(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'claim_lost';
}

/** True for what no further attempt changes. */
export function isFinal(error: unknown): boolean {
  return isClaimLost(error) || error instanceof InterpreterError;
}

/** Failures in a row that seem to be the blocks' own fault. A single failure may have any cause. */
const OWN_FAILURES_MAX = 3;

/** Work on blocks that gives up when it fails by itself again and again. */
export function retryUntilPermanent<T>(seqnos: readonly number[], work: () => Promise<T>): () => Promise<T> {
  let failures = 0;
  return async () => {
    try {
      return await work();
    } catch (error) {
      failures = isOwn(error) ? failures + 1 : 0;
      if (failures < OWN_FAILURES_MAX) throw error;
      throw new InterpreterError(seqnos, error);
    }
  };
}

/** A mistake of ours, or a value that Postgres refuses: no state of Postgres. */
function isOwn(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'query_failed';
  return !(error instanceof TonplaneError) || !error.retryable;
}
