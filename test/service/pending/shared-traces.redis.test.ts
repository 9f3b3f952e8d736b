import { Address } from '@ton/core';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import type { PendingLink } from '#service/pending/shared-traces.ts';
import { connectRedis } from '#service/limits/redis/connection.ts';
import { createRedisLink } from '#service/pool/redis/link.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { transfer } from '#test/support/wallet.ts';
import { startPendingNetwork, type PendingNetwork } from './pending-under-test.ts';

const redisUrl = inject('redisUrl');

const receiver = Address.parseRaw(`0:${'5'.repeat(64)}`);
const VALUE = 1_000_000_000n;

/** A line to Redis as pods have it. */
function openLink(url: string): PendingLink & { isHere(): boolean } {
  const client = connectRedis({ url, retryMs: () => 50 });
  return createRedisLink({ use: 'test', quickMs: 1000 }, { client, logger: pino({ level: 'silent' }) });
}

async function link(): Promise<PendingLink> {
  const made = openLink(redisUrl!);
  while (!made.isHere()) await new Promise((done) => setTimeout(done, 10));
  return made;
}

describe.skipIf(
  skipLoudly(redisUrl === undefined, { what: 'pending traces of several pods', why: 'there is no Redis' }),
)('pods that share a Redis', () => {
  let setting: PendingNetwork;
  let client: Redis;

  beforeEach(async () => {
    setting = await startPendingNetwork();
    client = new Redis(redisUrl!);
    const kept = await client.keys('ton:pending:*:test:*');
    if (kept.length > 0) await client.del(...kept);
  });
  afterEach(async () => {
    await setting.close();
    client.disconnect();
  });

  const filters = (hash: Buffer) => [
    { hashes: [hash] },
    { accounts: [{ workchain: 0, id: receiver.hash }] },
    { accounts: [{ workchain: 0, id: setting.faucet.id }] },
  ];

  it('show what was sent through any of them, the same', async () => {
    const one = setting.open(await link());
    const other = setting.open(await link());
    const message = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    for (const filter of [...filters(message.hash), ...filters(message.normalizedHash)]) {
      const [seen] = await one.find(filter);
      expect(seen).toBeDefined();
      expect(await other.find(filter)).toEqual([seen]);
    }
  });

  it('stop showing what is indexed, and keep nothing of it', async () => {
    const one = setting.open(await link());
    const other = setting.open(await link());
    const { hash } = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    setting.index.taken.set(hash.toString('hex'), 'classified');
    expect(await other.find({ hashes: [hash] })).toEqual([]);
    await one.refresh();
    expect(await client.keys('ton:pending:*:test:*')).toEqual([]);
  });

  it('let Redis forget what nobody lets go', async () => {
    const one = setting.open(await link());
    await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    const keys = await client.keys('ton:pending:*:test:*');
    expect(keys.length).toBeGreaterThan(3);
    const left = await Promise.all(keys.map((key) => client.pttl(key)));
    expect(Math.min(...left)).toBeGreaterThan(0);
  });

  it('show their own while Redis is away', async () => {
    const one = setting.open(openLink('redis://127.0.0.1:1'));
    const { hash } = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    expect(await one.find({ hashes: [hash] })).toHaveLength(1);
  });

  it('go on over another Redis when they are told to', async () => {
    const one = setting.open(openLink('redis://127.0.0.1:1'));
    const other = setting.open(await link());
    one.setLink(await link());
    const { hash } = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    expect(await other.find({ hashes: [hash] })).toHaveLength(1);
  });
});
