import { Address } from '@ton/core';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import { createSharedMessages } from '#service/pending/shared-messages.ts';
import { createSharedTraces } from '#service/pending/shared-traces.ts';
import { createTypedKeys } from '#service/pending/typed-keys.ts';
import { createWatchLeases } from '#service/pending/watch-leases.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { transfer } from '#test/support/wallet.ts';
import { startPendingNetwork, type PendingNetwork } from './pending-under-test.ts';
import { openGoodLink } from './redis-under-test.ts';

const redisUrl = inject('redisUrl');
const missing = { what: 'malformed values of sent messages', why: 'there is no Redis' };

const receiver = Address.parseRaw(`0:${'5'.repeat(64)}`);

const texts = [
  '',
  'garbage',
  'null',
  '5',
  '{}',
  '[]',
  '{"key":"AA=="}',
  'NaN NaN NaN',
  '-1 -1 AA==',
  `${'9'.repeat(30)} 1 AA==`,
];

describe.skipIf(skipLoudly(redisUrl === undefined, missing))('a value of another form in Redis', () => {
  let setting: PendingNetwork;
  let client: Redis;
  beforeEach(async () => {
    setting = await startPendingNetwork();
    client = new Redis(redisUrl!);
  });
  afterEach(async () => {
    await setting.close();
    client.disconnect();
  });

  it('a malformed value in Redis is ignored as trace, message, alias, place and lease, and is counted', async () => {
    const pod = setting.open(await openGoodLink(redisUrl!));
    const { normalizedHash } = await setting.send(pod, setting.faucet.send(0, [transfer(receiver, 1_000_000_000n)]));
    let malformed = 0;
    const keys = createTypedKeys(await openGoodLink(redisUrl!), () => malformed++);
    const options = { scope: setting.scope, keptMs: 60_000 };
    const traces = createSharedTraces(options, keys);
    const messages = createSharedMessages(options, keys);
    const leases = createWatchLeases(options, keys);
    const key = normalizedHash.toString('hex');
    const nameOf = async (part: string) => (await client.keys(`ton:pending:*:${setting.scope}:${part}`))[0] ?? '';
    const counted = async (read: () => Promise<unknown>): Promise<[unknown, number]> => {
      malformed = 0;
      return [await read(), malformed];
    };
    const [trace, message, place] = [await nameOf('trace:*'), await nameOf('message:*'), await nameOf('of:trace:*')];
    expect([await counted(() => traces.get(key)), await counted(() => messages.get(key))]).toMatchObject([
      [{ key: normalizedHash }, 0],
      [{ sentUnixMs: expect.any(Number) as number }, 0],
    ]);
    const whole = JSON.parse((await client.get(trace)) ?? '') as Record<string, unknown>;
    const spoilt = ['sentUnixMs', 'accounts', 'transactions', 'message', 'rootHash', 'actions', 'states'].flatMap(
      (name) =>
        [null, 'garbage', -5, 1e300, ['garbage'], {}].map((value) => JSON.stringify({ ...whole, [name]: value })),
    );
    for (const text of [...texts, ...spoilt]) {
      await client.set(trace, text);
      expect([text, ...(await counted(() => traces.get(key)))]).toEqual([text, undefined, 1]);
    }
    for (const text of texts) {
      await client.set(message, text);
      expect([text, ...(await counted(() => messages.get(key)))]).toEqual([text, undefined, 1]);
      await client.set(message.replace(/message:.*/, `alias:${key}`), text);
      expect([text, ...(await counted(() => traces.keyBy(key)))]).toEqual([text, undefined, 1]);
    }
    await client.zadd(place, '1', 'garbage');
    const found = () => traces.keysOf(place.slice(place.indexOf(':of:') + 4));
    expect(await counted(found)).toEqual([[key], 1]);
    const leaseName = trace.replace(/trace:.*/, 'leases');
    await client.zadd(leaseName, '0', 'garbage');
    expect(await counted(() => leases.takeOver(10, 1))).toEqual([[], 1]);
    expect(await client.zscore(leaseName, 'garbage')).toBeNull();
    for (const name of [trace, message, place, leaseName]) {
      await client.del(name);
      await client.hset(name, 'garbage', 'garbage');
    }
    expect(await counted(() => traces.get(key))).toEqual([undefined, 1]);
    expect(await counted(() => messages.get(key))).toEqual([undefined, 1]);
    expect(await counted(found)).toEqual([[], 1]);
    expect(await counted(() => leases.hold([key], 1))).toEqual([1, 1]);
  });
});
