import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { EventMessage, ClassifierTrace, EventTransaction } from '#service/actions/engine/classifier-input.ts';
import { readRecordedTrace, recordedTraceFiles } from '#test/support/recorded-traces.ts';
import { skipLoudly } from '#test/support/skips.ts';

const files = recordedTraceFiles();

// Parts of a trace may be missing, or written by contracts that only borrow an opcode: what is there is told all the same.

function without(trace: ClassifierTrace, left: EventTransaction): ClassifierTrace {
  return { ...trace, transactions: trace.transactions.filter((one) => one !== left) };
}

/** The body of one message begins 64 bits later than its opcode says. */
function garbled(trace: ClassifierTrace, { hash, body }: EventMessage): ClassifierTrace {
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

/** What follows from one message, as if it had come from outside. */
function begunOutside(trace: ClassifierTrace, first: EventTransaction): ClassifierTrace {
  const byMessage = new Map(trace.transactions.map((one) => [one.inMessage?.hash, one]));
  const transactions = [first];
  for (const { outMessages } of transactions) {
    transactions.push(...outMessages.map(({ hash }) => byMessage.get(hash)).filter((one) => one !== undefined));
  }
  const outside = { source: null, value: null, extraCurrencies: null, createdLt: null, createdAt: null };
  const root = { ...first, inMessage: first.inMessage && { ...first.inMessage, ...outside } };
  return { ...trace, transactions: [root, ...transactions.slice(1)] };
}

/** One message went to nobody. */
function logged(trace: ClassifierTrace, { hash }: EventMessage): ClassifierTrace {
  const log = { destination: null, value: null, extraCurrencies: null };
  return {
    ...trace,
    transactions: trace.transactions
      .filter(({ inMessage }) => inMessage?.hash !== hash)
      .map((one) => ({
        ...one,
        outMessages: one.outMessages.map((message) => (message.hash === hash ? { ...message, ...log } : message)),
      })),
  };
}

/** Names of values that are accounts and empty. */
function emptyAccounts(value: unknown, name = ''): readonly string[] {
  if (value === '') return ['comment', 'content', 'payout_comment', 'value'].includes(name) ? [] : [name];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([inner, one]) => emptyAccounts(one, inner));
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

  it('names nobody where a message has no sender or no receiver', () => {
    for (const { trace, interfaces } of recorded) {
      for (const transaction of trace.transactions) {
        const inner = transaction.outMessages.filter(({ destination }) => destination !== null);
        const damaged = [begunOutside(trace, transaction), ...inner.map((message) => logged(trace, message))];
        for (const one of damaged) expect(emptyAccounts(classify(one, interfaces).actions)).toEqual([]);
      }
    }
  });
});
