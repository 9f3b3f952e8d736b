import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import type { KeyringRow } from '#service/config.ts';
import { fullBucket, take } from '#service/limits/bucket.ts';
import { makeKey } from '#service/limits/keys.ts';
import { runKeys } from '#service/main/commands/keys.ts';
import { startRedisCluster } from '#test/service/limits/redis/redis-cluster.ts';
import { startRedisProcess, type RedisProcess } from '#test/service/limits/redis/redis-process.ts';
import { ask, startNetwork, type NetworkProcess } from '#test/support/api-processes.ts';
import { mountFolder, type MountedFolder } from '#test/support/mounted-folder.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { skipLoudly } from '#test/support/skips.ts';

const redisUrl = inject('redisUrl') ?? '';
const missing = skipLoudly(redisUrl === '', { what: 'processes that share limits', why: 'no redis-server' });

const podCount = 4;
const rate = 25;

/** A minute, as the claim is of one; what is admitted in it is counted to the token. */
const claimMs = 60_000;
const missMax = 0.01;

/** When each process is asked next, in milliseconds from the start, at twice the plan's rate altogether: more would starve whoever asks. */
type Arrival = (pod: number, asked: number) => number;

const uniform: Arrival = (_pod, asked) => asked * 80;
/** Five at once. */
const bursty: Arrival = (_pod, asked) => Math.floor(asked / 5) * 400;
/** Nine tenths come to one process. */
const skewed: Arrival = (pod, asked) => asked * (pod === 0 ? 22 : 600);

type Issued = { readonly key: string; readonly row: KeyringRow };

function issue(owner?: string): Issued {
  const { key, id, sha256 } = makeKey(randomBytes);
  const row = { id, sha256: sha256.toString('hex'), plan: 'pro', ...(owner !== undefined && { owner }) };
  return { key, row };
}

describe.skipIf(missing)('processes that share one Redis', () => {
  const keys = {
    uniform: issue(),
    bursty: issue(),
    skewed: issue(),
    owned: issue('acme'),
    alsoOwned: issue('acme'),
    revoked: issue(),
  };
  const api = `processes-${randomBytes(4).toString('hex')}`;
  let network: NetworkProcess;
  let pods: ServiceProcess[];
  let manifest: MountedFolder;
  let keyring: MountedFolder;

  beforeAll(async () => {
    network = await startNetwork();
    const plans = [{ name: 'pro', requestsPerSecond: rate, burst: rate }];
    manifest = mountFolder({ 'tonapi.yaml': network.manifest({ plans, anonymousPlan: undefined }, api) });
    keyring = mountFolder({ 'keyring.json': JSON.stringify({ keys: Object.values(keys).map(({ row }) => row) }) });
    const args = ['--manifest', manifest.file('tonapi.yaml'), '--keyring', keyring.path, '--redis', redisUrl];
    pods = await Promise.all(Array.from({ length: podCount }, () => startService(args)));
  });
  afterAll(async () => {
    await Promise.all(pods.map((pod) => pod.stop()));
    await network.stop();
    manifest.remove();
    keyring.remove();
  });

  /** What all processes together admit, and what one bucket would admit of these requests, decided when they were sent or when they were answered. */
  const load = async (arrival: Arrival, keyOf: (asked: number) => string) => {
    const startedMs = performance.now();
    const elapsedMs = (): number => performance.now() - startedMs;
    const asked: (Span & { readonly status: number })[] = [];
    const askOnce = async (pod: ServiceProcess, key: string): Promise<void> => {
      const sentMs = elapsedMs();
      const status = await ask(pod, key);
      asked.push({ sentMs, answeredMs: elapsedMs(), status });
    };
    const askPod = async (pod: ServiceProcess, index: number): Promise<void> => {
      const open: Promise<void>[] = [];
      for (let count = 0; arrival(index, count) < claimMs; count++) {
        const waitMs = arrival(index, count) - elapsedMs();
        if (waitMs > 0) await sleep(waitMs);
        open.push(askOnce(pod, keyOf(count)));
      }
      await Promise.all(open);
    };
    await Promise.all(pods.map(askPod));
    const admitted = asked.filter(({ status }) => status === 200).length;
    const statuses = [...new Set(asked.map(({ status }) => status))].toSorted((a, b) => a - b);
    const least = Math.min(...[0, 0.5, 1].map((part) => admittedAt(asked, part)));
    return { admitted, statuses, least, most: admittedAtMost(asked) };
  };

  it('admit a plan together to 1 % of what it says, however requests arrive', async () => {
    await expect.poll(() => Promise.all(pods.map(isAway))).toEqual(pods.map(() => '0'));
    const results = await Promise.all([
      load(uniform, () => keys.uniform.key),
      load(bursty, () => keys.bursty.key),
      load(skewed, () => keys.skewed.key),
      load(uniform, (asked) => (asked % 2 === 0 ? keys.owned : keys.alsoOwned).key),
    ]);
    for (const { admitted, statuses, least, most } of results) {
      expect(statuses).toEqual([200, 429]);
      expect(admitted).toBeGreaterThan(least * (1 - missMax));
      expect(admitted).toBeLessThan(most * (1 + missMax));
    }
  });

  it('refuse a key on each after its revocation, before its row is gone', async () => {
    const folder = mountFolder({ 'keyring.json': JSON.stringify({ keys: [keys.revoked.row] }) });
    expect(await Promise.all(pods.map((pod) => ask(pod, keys.revoked.key)))).toEqual(pods.map(() => 200));
    const args = ['revoke', '--id', keys.revoked.row.id, '--keyring', folder.file('keyring.json')];
    await runKeys([...args, '--redis', redisUrl, '--api', api], Date.now(), {});
    const answers = () => Promise.all(pods.map((pod) => ask(pod, keys.revoked.key)));
    await expect.poll(answers).toEqual(pods.map(() => 401));
    expect(await metric(pods[0] as ServiceProcess, 'ton_limits_revocations_total')).toBe('1');
    folder.remove();
  });

  it('lose no count of usage when one ends', async () => {
    const counted = issue();
    const folder = mountFolder({ 'keyring.json': JSON.stringify({ keys: [counted.row] }) });
    const args = ['--manifest', manifest.file('tonapi.yaml'), '--keyring', folder.path, '--redis', redisUrl];
    const service = await startService(args);
    await expect.poll(() => isAway(service)).toBe('0');
    expect(await ask(service, counted.key)).toBe(200);
    await service.stop('SIGTERM');
    const client = new Redis(redisUrl);
    const [name = ''] = await client.keys(`usage:${api}:{${counted.row.id}}:*`);
    expect(await client.hgetall(name)).toMatchObject({ getMasterchainInfo: '1' });
    client.disconnect();
    folder.remove();
  });

  it('goes over from one Redis to a cluster and back, limits and pool, without a restart', async () => {
    const [redis, cluster] = [await startRedisProcess(), await startRedisCluster()];
    const secret = mountFolder({ url: redis.url });
    const config = mountFolder({ 'tonapi.yaml': network.manifest() });
    const service = await startService(['--manifest', config.file('tonapi.yaml'), '--redis-file', secret.file('url')]);
    const away = (): Promise<string[]> => Promise.all([isAway(service), metric(service, 'ton_pool_redis_away')]);
    let reads = 0;
    /** Answers that these nodes keep, after one more read that no cache has. */
    const keptAfterRead = async (nodes: readonly RedisProcess[]): Promise<number> => {
      reads += 1;
      const address = `0:${reads.toString(16).padStart(64, '0')}`;
      const answer = await fetch(`${service.url}/api/v2/getAddressInformation?address=${address}`);
      expect(answer.status).toBe(200);
      return (await Promise.all(nodes.map((node) => node.command('KEYS', 'ton:answer:*')))).flat().length;
    };
    for (const { url, nodes } of [{ url: redis.url, nodes: [redis] }, cluster, { url: redis.url, nodes: [redis] }]) {
      for (const node of nodes) await node.command('FLUSHALL');
      secret.put({ url });
      await expect.poll(() => keptAfterRead(nodes)).toBeGreaterThan(0);
      await expect.poll(away).toEqual(['0', '0']);
    }
    await service.stop('SIGTERM');
    await Promise.all([redis.close(), cluster.close()]);
    secret.remove();
    config.remove();
  });

  it('goes on with a rotated password of its Redis, without a restart', async () => {
    const redis = await startRedisProcess('--requirepass', 'rosebud');
    const at = `127.0.0.1:${redis.port}`;
    const secret = mountFolder({ url: `redis://:rosebud@${at}` });
    const config = mountFolder({ 'tonapi.yaml': network.manifest() });
    const service = await startService(['--manifest', config.file('tonapi.yaml'), '--redis-file', secret.file('url')]);
    await expect.poll(() => isAway(service)).toBe('0');
    await redis.command('CONFIG', 'SET', 'requirepass', 'xanadu');
    await redis.command('CLIENT', 'KILL', 'TYPE', 'NORMAL');
    await expect.poll(() => isAway(service)).toBe('1');
    expect(await ask(service)).toBe(200);
    await sleep(300);
    expect(await isAway(service)).toBe('1');
    secret.put({ url: `redis://:xanadu@${at}\n` });
    await expect.poll(() => isAway(service)).toBe('0');
    expect(service.stdout()).not.toMatch(/rosebud|xanadu/);
    await service.stop('SIGTERM');
    await redis.close();
    secret.remove();
    config.remove();
  });
});

/** A request was decided between the two: not at once where the machine has other things to do. */
type Span = { readonly sentMs: number; readonly answeredMs: number };

const plan = { requestsPerSecond: rate, burst: rate };

/** What one bucket admits of requests that are each decided at this part of their time. */
function admittedAt(asked: readonly Span[], part: number): number {
  const times = asked.map(({ sentMs, answeredMs }) => sentMs + part * (answeredMs - sentMs));
  return admittedOf(times.toSorted((a, b) => a - b));
}

function admittedOf(timesMs: readonly number[]): number {
  let bucket = fullBucket(0);
  let admitted = 0;
  for (const ms of timesMs) {
    const taking = take(bucket, plan, Math.round(ms * 1000), 1);
    bucket = taking.bucket;
    admitted += Number(taking.admitted);
  }
  return admitted;
}

/** What one bucket admits when each request is decided at the best time: at each millisecond, first the one that was answered first. */
function admittedAtMost(asked: readonly Span[]): number {
  const coming = asked.toSorted((a, b) => b.sentMs - a.sentMs);
  let waiting: Span[] = [];
  let bucket = fullBucket(0);
  let admitted = 0;
  for (let ms = 0; coming.length + waiting.length > 0; ms++) {
    while ((coming.at(-1)?.sentMs ?? Infinity) <= ms) waiting.push(coming.pop() as Span);
    waiting = waiting.filter(({ answeredMs }) => answeredMs > ms - 1).toSorted((a, b) => a.answeredMs - b.answeredMs);
    for (; waiting.length > 0; waiting.shift()) {
      const taking = take(bucket, plan, ms * 1000, 1);
      bucket = taking.bucket;
      if (!taking.admitted) break;
      admitted++;
    }
  }
  return admitted;
}

const isAway = (pod: ServiceProcess): Promise<string> => metric(pod, 'ton_limits_redis_away');

/** Value of a metric without labels. */
async function metric(pod: ServiceProcess, name: string): Promise<string> {
  const metrics = await (await fetch(`${pod.internalUrl}/metrics`)).text();
  return new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1] ?? '';
}
