import type { SimulatedTrace, Trace } from '../objects.ts';

/** A trace. `isPending`: it is simulated, and no block has all of it. */
type FoundTrace = { readonly trace: Trace | SimulatedTrace; readonly isPending: boolean };

export type TraceState = 'pending' | 'running' | 'broken' | 'complete';

export function stateOfTrace({ trace, isPending }: FoundTrace): TraceState {
  if (isPending) return 'pending';
  const { trace_state: state } = trace.trace_info;
  return state === 'pending' ? 'running' : state;
}

/** True for a trace whose transactions the API does not send, because they are too many. */
export const isWithheld = ({ trace, isPending }: FoundTrace): boolean => !isPending && trace.is_incomplete;

/** Hashes by which streams know the trace. Its id is the only one where no message from outside began it. */
export function namesOfTrace({ trace }: FoundTrace): string[] {
  return [trace.external_hash, trace.trace_id].filter((name) => name !== null);
}
