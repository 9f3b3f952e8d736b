import { StoreError } from '../store/errors.ts';

/** What the interpreter does: a label of metrics. */
export type Stage = 'schema' | 'claim' | 'read' | 'detect' | 'write' | 'progress';

/** True for what no further attempt changes. */
export function isClaimLost(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'claim_lost';
}
