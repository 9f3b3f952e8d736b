import { describe, expect, it } from 'vitest';

import type { Watchers } from '#service/streaming/hub/distribution.ts';
import { IndexedKeys } from '#service/streaming/hub/indexed-keys.ts';
import type { Subscriber } from '#service/streaming/hub/subscriber.ts';
import { createSubscriptionsIndex } from '#service/streaming/hub/subscriptions-index.ts';
import { hash, wishOf } from './hub-under-test.ts';

describe('keys of a connection in the index of subscriptions', () => {
  it('are gone when the connection ends while they are added', async () => {
    const watchers: Watchers = {
      accounts: createSubscriptionsIndex(),
      traces: createSubscriptionsIndex(),
      shown: createSubscriptionsIndex(),
    };
    const keys = new IndexedKeys({ viewer: () => undefined } as Subscriber, watchers);
    const accounts = new Set(Array.from({ length: 200_000 }, (_, number) => hash(number)));
    const done = keys.add(wishOf({ accounts }), new AbortController().signal);
    expect(watchers.accounts.size()).toBeGreaterThan(0);
    expect(watchers.accounts.size()).toBeLessThan(accounts.size);
    keys.clear();
    await done;
    expect(watchers.accounts.size()).toBe(0);
  });
});
