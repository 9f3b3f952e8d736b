import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { EventMessage, EventTrace, EventTransaction } from '#service/actions/event.ts';
import { readRecordedTrace, recordedTraceFiles } from '#test/support/recorded-traces.ts';
import { skipLoudly } from '#test/support/skips.ts';

const files = recordedTraceFiles();

// Parts of a trace may be missing, or written by contracts that only borrow an opcode: what is there is told all the same.

function without(trace: EventTrace, left: EventTransaction): EventTrace {
  return { ...trace, transactions: trace.transactions.filter((one) => one !== left) };
}

/** The body of one message begins 64 bits later than its opcode says. */
function garbled(trace: EventTrace, { hash, body }: EventMessage): EventTrace {
  const later = body?.clone();
  later?.skip(Math.min(64, later.remainingBits));
  const change = (message: EventMessage): EventMessage =>
    message.hash === hash ? { ...message, body: later } : message;
  return {
    ...trace,
    transactions: trace.transactions.map((one) => ({
      ...one,
      inMessage: one.inMessage && change(one.inMessage),
      outMessages: one.outMessages.map(change),
    })),
  };
}

describe.skipIf(
  skipLoudly(files.length === 0, { what: 'damaged traces', why: 'there are no recorded traces to damage' }),
)('a damaged trace', () => {
  const recorded = files.map(readRecordedTrace);

  it('is told whichever of its transactions is missing', () => {
    for (const { trace, interfaces } of recorded) {
      for (const transaction of trace.transactions.slice(1)) {
        expect(classify(without(trace, transaction), interfaces).state).not.toBe('failed');
      }
    }
  });

  it('is told whichever of its messages says something else than its opcode', () => {
    for (const { trace, interfaces } of recorded) {
      for (const { inMessage } of trace.transactions.slice(1)) {
        if (inMessage === null) continue;
        expect(classify(garbled(trace, inMessage), interfaces).state).not.toBe('failed');
      }
    }
  });
});
