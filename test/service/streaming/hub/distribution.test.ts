import { describe, expect, it } from 'vitest';

import { createDraw } from '#test/support/draw.ts';
import { account, createHubUnderTest, hash, trace, transaction } from './hub-under-test.ts';

const a = account('A');

const oneOf = (number: number) => trace(hash(number), { transactions: [transaction(`t${number}`, a)] });

/** Connections whose events take far longer than a slice. */
const CONNECTIONS = 2_000;

describe('an event to thousands of connections', () => {
  it('leaves turns of the loop to other work, and a later event overtakes it at no connection', async () => {
    const { hub, open, block } = createHubUnderTest();
    const callers = Array.from({ length: CONNECTIONS }, () => open());
    for (const caller of callers) await caller.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    const given = (): number => callers.reduce((sum, { events }) => sum + events.length, 0);
    const seen: number[] = [];
    let isDone = false;
    const look = (): void => {
      seen.push(given());
      if (!isDone) setImmediate(look);
    };
    setImmediate(look);
    const changes = [1, 2, 3].map((number) => ({ ...oneOf(number), finality: 'pending' as const }));
    // A block comes from another source at the same time.
    await Promise.all([hub.publish(changes), block(oneOf(4))]);
    isDone = true;
    const all = 4 * CONNECTIONS;
    expect(given()).toBe(all);
    const between = new Set(seen.filter((count) => count > 0 && count < all));
    expect(between.size).toBeGreaterThan(5);
    const orders = new Set(callers.map(({ events }) => events.map((event) => hashOf(event)).join()));
    expect(orders.size).toBe(1);
    expect([...orders][0]!.replace(/,?t4/, '').replace(/^,/, '')).toBe('t1,t2,t3');
  });
});

function hashOf(event: Readonly<Record<string, unknown>>): string {
  return (event['transactions'] as readonly { readonly hash: string }[])[0]!.hash;
}

describe('the index of subscriptions', () => {
  it('has the keys of the present subscriptions alone after any subscriptions and removals, and none in the end', async () => {
    const { hub, open, register } = createHubUnderTest();
    const draw = createDraw(43);
    const accountAt = (): string => `0:${draw(40)}`;
    const some = (): Set<string> => new Set(Array.from({ length: draw(12) }, accountAt));
    const callers = [open(), open()];
    const present = callers.map(() => new Set<string>());
    const keys = async (): Promise<number> => {
      const text = await register.getSingleMetricAsString('ton_streaming_subscribed_keys');
      return Number(/^ton_streaming_subscribed_keys (\d+)$/m.exec(text)?.[1]);
    };
    for (let step = 0; step < 200; step++) {
      const at = draw(2);
      const { connection, subscribe } = callers[at]!;
      const accounts = some();
      if (draw(3) === 0) {
        connection.unsubscribe(accounts, new Set());
        present[at] = present[at]!.difference(accounts);
      } else {
        await subscribe({ accounts });
        present[at] = accounts;
      }
      expect(await keys()).toBe(present[0]!.union(present[1]!).size);
    }
    for (const { connection } of callers) connection.close();
    expect(await keys()).toBe(0);
    await hub.close();
  });
});
