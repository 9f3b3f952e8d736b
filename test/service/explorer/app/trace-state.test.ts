import { describe, expect, it } from 'vitest';

import type { Trace } from '#service/explorer/app/objects.ts';
import { isWithheld, namesOfTrace, stateOfTrace } from '#service/explorer/app/trace/state.ts';
import { traceOf } from './traces.ts';

const indexed = (trace: Trace) => ({ trace, isPending: false });
const simulated = (trace: Trace) => ({ trace: { ...trace, trace_id: null }, isPending: true });

/** A finished trace of 12,011 transactions, which the API does not send. */
const tooLarge = traceOf({ is_incomplete: true, trace: undefined, transactions: {} }, { transactions: 12_011 });

describe('the state of a trace on its page', () => {
  it.each(['complete', 'broken'] as const)('is that of the index: %s', (state) => {
    expect(stateOfTrace(indexed(traceOf({}, { trace_state: state })))).toBe(state);
  });

  it('is running while a message is on its way between two masterchain blocks', () => {
    const trace = traceOf({ is_incomplete: false }, { trace_state: 'pending' });
    expect(stateOfTrace(indexed(trace))).toBe('running');
  });

  it('is pending for a trace that is simulated, also to its end', () => {
    expect(stateOfTrace(simulated(traceOf({ is_incomplete: false }, { trace_state: 'pending' })))).toBe('pending');
  });

  it('is complete for a trace that ended and is too large for an answer', () => {
    expect(stateOfTrace(indexed(tooLarge))).toBe('complete');
  });
});

describe('the transactions of a trace', () => {
  it('are withheld where the trace is too large for an answer', () => {
    expect(isWithheld(indexed(tooLarge))).toBe(true);
  });

  it('are there in all other traces', () => {
    expect(isWithheld(indexed(traceOf({})))).toBe(false);
    expect(isWithheld(indexed(traceOf({}, { trace_state: 'pending' })))).toBe(false);
    expect(isWithheld(simulated(traceOf({ is_incomplete: true }, { trace_state: 'pending' })))).toBe(false);
  });
});

describe('the hashes by which a page follows a trace', () => {
  it('are the message and the first transaction', () => {
    expect(namesOfTrace(indexed(traceOf({ external_hash: 'message', trace_id: 'first' })))).toEqual([
      'message',
      'first',
    ]);
    expect(namesOfTrace(indexed(traceOf({ external_hash: null, trace_id: 'first' })))).toEqual(['first']);
  });

  it('are the message alone while the trace is simulated', () => {
    expect(namesOfTrace(simulated(traceOf({ external_hash: 'message' })))).toEqual(['message']);
  });
});
