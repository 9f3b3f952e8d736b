import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import type { StateChange } from '#service/streaming/changes.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { stateEvent } from '../fake-hub.ts';
import { account, type Caller } from '../hub/hub-under-test.ts';
import { createPods, type PodsUnderTest, type PodUnderTest } from './pods-under-test.ts';

const redisUrl = inject('redisUrl');

const a = account('A');

const stateOf = (finality: 'confirmed' | 'finalized', lt: string): StateChange => ({
  kind: 'state',
  account: a,
  finality,
  position: null,
  state: { ...stateEvent().state, last_transaction_lt: lt },
});

const ltsIn = ({ events }: Caller): string[] =>
  events.map(({ finality, state }) => `${finality} ${(state as StateChange['state']).last_transaction_lt}`);

const missing = skipLoudly(redisUrl === undefined, { what: 'states of several pods', why: 'there is no Redis' });

describe.skipIf(missing)('states of several pods', () => {
  let pods: PodsUnderTest;
  let one: PodUnderTest;
  let other: PodUnderTest;

  beforeEach(async () => {
    pods = createPods(redisUrl!);
    one = await pods.start();
    other = await pods.start();
  });
  afterEach(() => pods.close());

  it('show no signed state of a pod that lags after the final one, live or after a resume', async () => {
    const states = {
      accounts: new Set([a]),
      minFinality: 'pending' as const,
      types: new Set(['account_state_change'] as const),
    };
    pods.add(stateOf('finalized', '5'));
    await Promise.all([one.follow(), other.follow()]);
    const [cut, live, late] = [one.open(), one.open(), other.open()];
    for (const caller of [cut, live, late]) await caller.subscribe(states);
    pods.add(stateOf('finalized', '7'));
    await one.follow();
    await expect.poll(() => ltsIn(cut)).toEqual(['finalized 7']);
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    const young = await pods.start();
    const newcomer = young.open();
    await newcomer.subscribe(states);
    await other.hub.publish([stateOf('confirmed', '7'), stateOf('confirmed', '9')]);
    await expect.poll(() => ltsIn(late)).toEqual(['confirmed 7', 'confirmed 9']);
    await expect.poll(() => ltsIn(live)).toEqual(['finalized 7', 'confirmed 9']);
    await expect.poll(() => ltsIn(newcomer)).toEqual(['confirmed 9']);
    for (const pod of [young, one]) {
      const again = pod.open();
      await again.subscribe(states, cursor);
      expect(again.begun.at(-1)?.resumed).toBe('full');
      await expect.poll(() => ltsIn(again)).toEqual(['confirmed 9']);
    }
    await other.follow();
    await expect.poll(() => ltsIn(late).at(-1)).toBe('finalized 7');
  });
});
