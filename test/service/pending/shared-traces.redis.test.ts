import { Address } from '@ton/core';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import { LEASE_MS } from '#service/pending/watch-leases.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { transfer } from '#test/support/wallet.ts';
import { classified, startPendingNetwork, type PendingNetwork } from './pending-under-test.ts';
import { openGoodLink, openLink } from './redis-under-test.ts';

const redisUrl = inject('redisUrl');

const receiver = Address.parseRaw(`0:${'5'.repeat(64)}`);
const VALUE = 1_000_000_000n;

describe.skipIf(
  skipLoudly(redisUrl === undefined, { what: 'pending traces of several pods', why: 'there is no Redis' }),
)('pods that share a Redis', () => {
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

  const filters = (hash: Buffer) => [
    { hashes: [hash] },
    { accounts: [{ workchain: 0, id: receiver.hash }] },
    { accounts: [{ workchain: 0, id: setting.faucet.id }] },
  ];

  it('show what was sent through any of them, the same', async () => {
    const one = setting.open(await openGoodLink(redisUrl!));
    const other = setting.open(await openGoodLink(redisUrl!));
    const message = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    for (const filter of [...filters(message.hash), ...filters(message.normalizedHash)]) {
      const [seen] = await one.find(filter);
      expect(seen).toBeDefined();
      expect(await other.find(filter)).toEqual([seen]);
    }
  });

  it('stop showing what is indexed, and keep nothing of it', async () => {
    const one = setting.open(await openGoodLink(redisUrl!));
    const other = setting.open(await openGoodLink(redisUrl!));
    const { hash, normalizedHash } = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    setting.index.taken.set(normalizedHash.toString('hex'), classified);
    expect(await other.find({ hashes: [hash] })).toEqual([]);
    await one.refresh();
    expect(await client.keys(`ton:pending:*:${setting.scope}:*`)).toEqual([]);
  });

  it('let Redis forget what nobody lets go', async () => {
    const one = setting.open(await openGoodLink(redisUrl!));
    await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    const keys = await client.keys(`ton:pending:*:${setting.scope}:*`);
    expect(keys.length).toBeGreaterThan(3);
    const left = await Promise.all(keys.map((key) => client.pttl(key)));
    expect(Math.min(...left)).toBeGreaterThan(0);
  });

  it('show their own while Redis is away', async () => {
    const one = setting.open(openLink('redis://127.0.0.1:1'));
    const { hash } = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    expect(await one.find({ hashes: [hash] })).toHaveLength(1);
  });

  it('go on over another Redis after a change of the configuration', async () => {
    const one = setting.open(openLink('redis://127.0.0.1:1'));
    const other = setting.open(await openGoodLink(redisUrl!));
    one.setLink(await openGoodLink(redisUrl!));
    const { hash } = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    expect(await other.find({ hashes: [hash] })).toHaveLength(1);
  });

  it('bring what they watch to a Redis that comes later, or has lost it', async () => {
    const one = setting.open(openLink('redis://127.0.0.1:1'));
    const other = setting.open(await openGoodLink(redisUrl!));
    const { hash } = await setting.send(one, setting.faucet.send(0, [transfer(receiver, VALUE)]));
    one.setLink(await openGoodLink(redisUrl!));
    await one.refresh();
    expect(await other.find({ hashes: [hash] })).toHaveLength(1);
    await client.del(await client.keys(`ton:pending:*:${setting.scope}:*`));
    setting.clock.unixMs += LEASE_MS;
    await one.refresh();
    expect(await other.find({ hashes: [hash] })).toHaveLength(1);
  });
});
