import { describe, expect, it } from 'vitest';

import {
  CLASSIFIED_MESSAGES_MAX,
  CLASSIFIED_TRANSACTIONS_MAX,
  classify,
  classifySteps,
} from '#service/actions/classify.ts';
import { MATCHER_STEPS_MAX, type Matcher } from '#service/actions/engine/matcher.ts';
import { call, followedBy, lazy, maybe, type Pattern } from '#service/actions/engine/pattern.ts';
import { CLASSIFICATION_STATES, traceMeaning } from '#service/interpreter/action-rows.ts';
import { accounts, bareBody, eventTrace, knownWallets, type Step } from '#test/support/event-traces.ts';

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

describe('a trace of many messages to the outside', () => {
  const logs = 200;
  const trace = eventTrace(wallet, [{ to: receiver, body: bareBody(1), logs: Array(logs).fill(bareBody(2)) }]);
  const [first, second] = trace.transactions;
  const of = (messages: number) => ({
    ...trace,
    transactions: [
      { ...first!, outMessages: [...first!.outMessages, ...Array(messages - logs - 2).fill(second!.outMessages[0])] },
      second!,
    ],
  });

  it('has actions up to the bound of messages, logs among them', () => {
    expect(classify(of(CLASSIFIED_MESSAGES_MAX), knownWallets({}))).toMatchObject({
      state: 'ok',
      actions: [{ type: 'call_contract' }],
    });
  });

  it('is not classified when it is', () => {
    const classified = classify(of(CLASSIFIED_MESSAGES_MAX + 1), knownWallets({}));
    expect(classified).toEqual({ state: 'unclassified', actions: [] });
  });
});

/** A contract that calls itself. */
function chainOf(length: number) {
  let called: Step | undefined;
  for (let at = 0; at < length; at++) {
    called = { to: receiver, body: bareBody(1), sends: called === undefined ? [] : [called] };
  }
  return eventTrace(wallet, [called!]);
}

/** Walks down from each block, and makes nothing. */
function walker() {
  const counted = { tests: 0 };
  const step: Pattern = followedBy(
    {
      ...call(1),
      test() {
        counted.tests++;
        return true;
      },
    },
    maybe(lazy(() => step)),
  );
  const matcher: Matcher = { pattern: step, build: () => undefined };
  return { matcher, counted };
}

describe('a chain of calls', () => {
  const LENGTH = 1500;
  const trace = chainOf(LENGTH);
  it('is walked with bounded steps by a matcher that begins at each of them, and later matchers run', () => {
    const { matcher, counted } = walker();
    const later: Matcher = { pattern: call(1), build: () => ({ type: 'told', columns: {} }) };
    const { state, actions } = classify(trace, knownWallets({}), [matcher, later]);
    expect(counted.tests).toBeLessThanOrEqual(MATCHER_STEPS_MAX);
    expect(state).toBe('ok');
    expect(actions.filter(({ type }) => type === 'told')).toHaveLength(LENGTH);
  });

  it('lets others run between its blocks', () => {
    const { matcher, counted } = walker();
    const steps = classifySteps(trace, knownWallets({}), [matcher]);
    let most = 0;
    for (let before = 0, step = steps.next(); step.done !== true; step = steps.next()) {
      most = Math.max(most, counted.tests - before);
      before = counted.tests;
    }
    // A walk goes no deeper.
    expect(most).toBeLessThanOrEqual(512);
  });

  it('lets others run between its actions', () => {
    let steps = 0;
    for (const _ of classifySteps(trace, knownWallets({}), [])) steps++;
    expect(steps).toBeGreaterThan(3 * LENGTH);
  });
});
