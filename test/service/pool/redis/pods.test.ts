import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { unlimitedPlan } from '#service/config.ts';
import { ensureProgram } from '#test/support/debian-package.ts';
import { makeKey } from '#service/limits/keys.ts';
import { startRedisCluster, type RedisCluster } from '#test/service/limits/redis/redis-cluster.ts';
import { startRedisProcess } from '#test/service/limits/redis/redis-process.ts';
import { metric } from '../network.ts';
import { seededRandom } from '../workload.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { skipLoudly } from '#test/support/skips.ts';

const missing = skipLoudly(!ensureProgram('redis-server'), {
  what: 'pods that share a Redis',
  why: 'no redis-server',
});

async function moveTo({ network, api }: ApiUnderTest, seqno: number): Promise<void> {
  network.moveHead(seqno);
  await expect.poll(() => api.pool.head()?.block.seqno, { interval: 10 }).toBe(seqno);
}

/** Shared stores: a Redis, or three in a cluster. */
const kinds: readonly { readonly kind: string; readonly start: () => Promise<SharedRedis> }[] = [
  {
    kind: 'one Redis',
    async start() {
      const redis = await startRedisProcess();
      return { ...redis, nodes: [redis] };
    },
  },
  { kind: 'a Redis cluster', start: startRedisCluster },
];

type SharedRedis = Pick<RedisCluster, 'url' | 'nodes' | 'close'>;

/** Writes a value into the only key with this beginning, on any node. */
async function poison({ nodes }: SharedRedis, pattern: string, value: string): Promise<number> {
  let written = 0;
  for (const node of nodes) {
    for (const key of (await node.command('KEYS', pattern)) as string[]) {
      await node.command('SET', key, value, 'PX', '120000');
      written += 1;
    }
  }
  return written;
}

describe.skipIf(missing).each(kinds)(
  'two pods of one API, each over lite servers of its own, with $kind',
  ({ start }) => {
    let redis: SharedRedis;
    let pods: [ApiUnderTest, ApiUnderTest];
    const callers = Array.from({ length: 6 }, () => makeKey(randomBytes));

    beforeAll(async () => {
      redis = await start();
      const rows = callers.map(({ id, sha256 }) => ({ id, sha256, plan: unlimitedPlan }));
      const options = { servers: 3, behindBlocks: 400, redisUrl: redis.url, rows };
      pods = [await startApiUnderTest(options), await startApiUnderTest(options)];
      // The pods meet in Redis a moment after each has its first head.
      await delay(1_500);
      for (const { register } of pods)
        await vi.waitUntil(async () => (await metric(register, 'ton_pool_redis_away')) === 0, { timeout: 60_000 });
    });

    afterAll(async () => {
      await Promise.all(pods.map((pod) => pod.close()));
      await redis.close();
    });

    /** Returns the seqno of the newest block that a pod shows a caller, or the status of its refusal. */
    async function look(pod: ApiUnderTest, caller: number, byRpc = false): Promise<number | { status: number }> {
      const headers = { 'x-api-key': callers[caller]!.key, 'x-tonplane-debug': '1' };
      const response = byRpc
        ? await fetch(`${pod.api.url}/api/v2/jsonRPC`, {
            method: 'POST',
            headers,
            body: JSON.stringify({ id: 1, jsonrpc: '2.0', method: 'getMasterchainInfo', params: {} }),
          })
        : await fetch(`${pod.api.url}/api/v2/getMasterchainInfo`, { headers });
      const body = (await response.json()) as { result?: { last: { seqno: number } } };
      if (body.result === undefined) return { status: response.status };
      expect(response.headers.get('x-tonplane-head')).toBe(`${body.result.last.seqno}`);
      return body.result.last.seqno;
    }

    /** Returns the seqno of getConsensusBlock for a caller, or the status of its refusal. */
    async function agree(pod: ApiUnderTest, caller: number): Promise<number | { status: number }> {
      const headers = { 'x-api-key': callers[caller]!.key };
      const response = await fetch(`${pod.api.url}/api/v2/getConsensusBlock`, { headers });
      const body = (await response.json()) as { result?: { consensus_block: number } };
      return body.result?.consensus_block ?? { status: response.status };
    }

    /** Names a masterchain block in a request. */
    async function nameBlock(pod: ApiUnderTest, caller: number, seqno: number): Promise<number> {
      const headers = { 'x-api-key': callers[caller]!.key };
      return (await fetch(`${pod.api.url}/api/v2/getShards?seqno=${seqno}`, { headers })).status;
    }

    const oldest = (): number => Math.min(...pods.map(({ api }) => api.pool.head()!.block.seqno));
    const newest = (): number => Math.max(...pods.map(({ network }) => network.head().id.seqno));

    test('a caller who saw a block at one pod waits for it at the other, and is answered at once when it comes', async () => {
      const [front, back] = pods;
      const seqno = newest() + 1;
      await moveTo(front, seqno);
      expect(await look(front, 0)).toBe(seqno);
      const waiting = look(back, 0);
      await delay(100);
      back.network.moveHead(seqno);
      expect(await waiting).toBe(seqno);
    });

    test('a caller who waits in vain gets 503 and Retry-After, and others are answered at the served head', async () => {
      const [front, back] = pods;
      const seqno = newest() + 2;
      await moveTo(front, seqno);
      expect(await look(front, 1)).toBe(seqno);
      expect(await look(back, 1)).toEqual({ status: 503 });
      expect(await look(back, 2)).toBe(back.api.pool.head()!.block.seqno);
      expect(await look(back, 1, true)).toEqual({ status: 503 });
      await moveTo(back, seqno);
    });

    test('a caller with a consensus from one pod never gets an older one at the other', async () => {
      const [front, back] = pods;
      const seqno = newest() + 1;
      await moveTo(front, seqno);
      expect(await agree(front, 3)).toBe(seqno);
      expect(await agree(back, 4)).toBe(seqno - 1);
      const waiting = agree(back, 3);
      await delay(100);
      back.network.moveHead(seqno);
      expect(await waiting).toBe(seqno);
      await moveTo(front, seqno + 1);
      expect(await agree(front, 3)).toBe(seqno + 1);
      expect(await agree(back, 3)).toEqual({ status: 503 });
      await moveTo(back, seqno + 1);
    });

    test('a caller who named a block that is not served yet sees no older head afterwards, at either pod', async () => {
      const [front, back] = pods;
      const served = newest();
      const { liteServers } = front.network;
      // A single server of three has it, which is less than half.
      for (const one of liteServers.slice(1)) await one.setFaults({ tip: { kind: 'stale', seqno: served } });
      front.network.moveHead(served + 1);
      expect(await nameBlock(front, 4, served + 1)).toBe(200);
      expect(front.api.pool.head()!.block.seqno).toBe(served);
      // This pod has a server with the block; the other pod has none.
      expect(await look(front, 4)).toBe(served + 1);
      expect(await look(back, 4)).toEqual({ status: 503 });
      expect(await look(front, 2)).toBe(served);
      for (const one of liteServers) await one.setFaults({});
      for (const pod of [front, back]) await moveTo(pod, served + 1);
      expect(await Promise.all(pods.map((pod) => look(pod, 4)))).toEqual([served + 1, served + 1]);
    });

    test('invented floors and an invented newest head in Redis do not hold for long', async () => {
      const [front, back] = pods;
      const { seqno } = front.network.head().id;
      expect(await look(back, 5)).toBe(seqno);
      expect(await poison(redis, 'ton:floor:*', '2000000000')).toBeGreaterThan(0);
      expect(await poison(redis, 'ton:newest:*', '2000000000')).toBe(1);
      expect(await look(front, 5)).toBe(seqno);
      expect(await look(back, 5)).toBe(seqno);
      await moveTo(front, seqno + 1);
      expect(await look(front, 5)).toBe(seqno + 1);
      await moveTo(back, seqno + 1);
      expect(await look(back, 5)).toBe(seqno + 1);
    });

    test('a caller who alternates between the pods never sees an older block, while both move at random', async () => {
      const random = seededRandom(7);
      const seen = new Map<number, number>();
      let regressions = 0;
      let answers = 0;
      const over = new AbortController();
      const moving = (async () => {
        while (!over.signal.aborted) {
          const { network, api } = pods[random() < 0.5 ? 0 : 1];
          const { seqno } = network.head().id;
          // Neither pod runs away from the other, nor from its lite servers, as in real networks.
          if (seqno <= oldest() && api.pool.head()!.block.seqno === seqno) network.moveHead(seqno + 1);
          await delay(40);
        }
      })();
      await Promise.all(
        callers.map(async (_, caller) => {
          for (let turn = 0; turn < 60; turn += 1) {
            const seqno = await look(pods[turn % 2]!, caller, random() < 0.5);
            if (typeof seqno !== 'number') continue;
            if (seqno < (seen.get(caller) ?? 0)) regressions += 1;
            seen.set(caller, seqno);
            answers += 1;
          }
        }),
      );
      over.abort();
      await moving;
      expect(regressions).toBe(0);
      expect(answers).toBeGreaterThan(250);
    });
  },
);
