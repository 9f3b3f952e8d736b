import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import { skipLoudly } from '#test/support/skips.ts';

import { slotCount, startClusterNode, startRedisCluster, type RedisCluster } from './redis-cluster.ts';
import type { RedisProcess } from './redis-process.ts';
import { askWith, load, planOf, startPods, untilAll, type SharedPod } from './shared-setup.ts';

const missing = skipLoudly(inject('redisUrl') === undefined, { what: 'a Redis cluster', why: 'no redis-server' });

/** Returns the node whose data has a key. */
async function holderOf(nodes: readonly RedisProcess[], key: string): Promise<RedisProcess> {
  for (const node of nodes) if ((await node.command('EXISTS', key).catch(() => 0)) === 1) return node;
  throw new Error(`no node holds ${key}`);
}

async function moveSlotOf(key: string, from: RedisProcess, to: RedisProcess): Promise<void> {
  const slot = String(await from.command('CLUSTER', 'KEYSLOT', key));
  const [fromId, toId] = (await Promise.all([from, to].map((node) => node.command('CLUSTER', 'MYID')))).map(String);
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId ?? '');
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId ?? '');
  await from.command('MIGRATE', '127.0.0.1', `${to.port}`, '', '0', '2000', 'KEYS', key);
  for (const node of [to, from]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId ?? '');
}

describe.skipIf(missing)('limits in a Redis cluster', () => {
  let cluster: RedisCluster;
  let nodes: readonly RedisProcess[];
  let url: string;
  beforeEach(async () => {
    cluster = await startRedisCluster();
    ({ nodes, url } = cluster);
  });
  afterEach(() => cluster.close());

  it('all pods share their limits over all slots, also while a slot moves to another node under load', async () => {
    // On a busy machine a node is slow at times, and the pods then follow `onRedisFailure`: such a load says nothing.
    for (let isWhole = false; !isWhole;) {
      const rows = Array.from({ length: 6 }, () => ({}));
      const { pods, keys, ids, api, absences, close } = await startPods(2, { url, rows });
      const before = absences();
      const loads = keys.map((key) => load(pods, 3000, () => 1, askWith(key)));
      const subject = `limits:${api}:{key ${ids[0]}}`;
      await expect.poll(() => holderOf(nodes, subject)).toBeDefined();
      const from = await holderOf(nodes, subject);
      const to = nodes.find((node) => node !== from) as RedisProcess;
      await moveSlotOf(subject, from, to);
      const loaded = await Promise.all(loads);
      expect(await holderOf(nodes, subject)).toBe(to);
      isWhole = absences() === before && (await pods[0]?.isHere()) === true;
      for (const { admitted, elapsedMs } of isWhole ? loaded : []) {
        const allowed = (25 * elapsedMs) / 1000 + 25;
        expect(admitted).toBeLessThanOrEqual(Math.ceil(allowed * 1.1));
        expect(admitted).toBeGreaterThan(allowed * 0.8);
      }
      await close();
    }
  });

  it('limits are unavailable while a node with their slots is down, and return with it', async () => {
    const { pods, keys, close } = await startPods(2, { url, onRedisFailure: 'Local' });
    nodes[2]?.signal('SIGKILL');
    await untilAll(pods, false);
    expect((await askWith(keys[0])(pods[0] as SharedPod)).allowed).toBe(true);
    await nodes[2]?.start();
    await untilAll(pods, true);
    expect((await askWith(keys[0])(pods[1] as SharedPod)).allowed).toBe(true);
    await close();
  });

  it('subjects are queried one by one also where the URL does not show that the server is part of a cluster', async () => {
    const single = await startClusterNode(cluster.folder, 'alone.conf');
    await single.command('CLUSTER', 'ADDSLOTSRANGE', '0', `${slotCount - 1}`);
    const plan = planOf({ requestsPerDay: 3 });
    const { pods, keys, close } = await startPods(1, { url: single.url, rows: [{}, {}, {}], plan });
    const decisions = await Promise.all(keys.map((key) => askWith(key)(pods[0] as SharedPod)));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true]);
    expect(await pods[0]?.isHere()).toBe(true);
    await close();
    await single.close();
  });
});
