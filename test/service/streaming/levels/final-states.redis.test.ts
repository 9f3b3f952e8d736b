import { afterEach, describe, expect, inject, it } from 'vitest';

import type { StateChange } from '#service/streaming/changes.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { account, stateAt, type Caller } from '../hub/hub-under-test.ts';
import { createPods, type PodsUnderTest } from './pods-under-test.ts';

const redisUrl = inject('redisUrl');

const a = account('A');

const ltsIn = ({ events }: Caller): string[] =>
  events.map(({ finality, state }) => `${finality} ${(state as StateChange['state']).last_transaction_lt}`);

const missing = skipLoudly(redisUrl === undefined, { what: 'states of several pods', why: 'there is no Redis' });

describe.skipIf(missing)('states of several pods', () => {
  let pods: PodsUnderTest;

  afterEach(() => pods.close());

  it('show no signed state of a pod that lags after the final one, live or after a resume', async () => {
    pods = createPods(redisUrl!);
    const [one, other] = [await pods.start(), await pods.start()];
    const states = {
      accounts: new Set([a]),
      minFinality: 'pending' as const,
      types: new Set(['account_state_change'] as const),
    };
    pods.add(stateAt(5, 'finalized'));
    await Promise.all([one.follow(), other.follow()]);
    const [cut, live, late] = [one.open(), one.open(), other.open()];
    for (const caller of [cut, live, late]) await caller.subscribe(states);
    pods.add(stateAt(7, 'finalized'));
    await one.follow();
    await expect.poll(() => ltsIn(cut)).toEqual(['finalized 7']);
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    const young = await pods.start();
    const newcomer = young.open();
    await newcomer.subscribe(states);
    await other.hub.publish([stateAt(7, 'confirmed'), stateAt(9, 'confirmed')]);
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
