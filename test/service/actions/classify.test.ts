import { describe, expect, it } from 'vitest';

import { CLASSIFIED_TRANSACTIONS_MAX, classify } from '#service/actions/classify.ts';
import { CLASSIFICATION_STATES, traceMeaning } from '#service/interpreter/action-rows.ts';
import { accounts, bareBody, eventTrace, knownWallets } from '#test/support/event-traces.ts';

const [wallet, receiver] = accounts(2);

describe('a trace of many transactions', () => {
  const trace = eventTrace(wallet, [{ to: receiver, body: bareBody(1) }]);
  const [first, second] = trace.transactions;
  const of = (count: number) => ({
    ...trace,
    transactions: [first!, ...Array.from({ length: count - 1 }, () => second!)],
  });

  it('is told while it is not too large', () => {
    expect(classify(of(CLASSIFIED_TRANSACTIONS_MAX), knownWallets({}))).toMatchObject({
      state: 'ok',
      actions: [{ type: 'call_contract' }],
    });
  });

  it('is not classified when it is', () => {
    const classified = classify(of(CLASSIFIED_TRANSACTIONS_MAX + 1), knownWallets({}));
    expect(classified).toEqual({ state: 'unclassified', actions: [] });
    expect(CLASSIFICATION_STATES[classified.state]).toBe(0);
    expect(traceMeaning(trace, classified, 1)).toMatchObject({ trace: { state: 0 }, actions: [] });
  });
});
