import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';
import { expect } from 'vitest';

import { WHOLE_BLOCK, type Change, type TraceSnapshot } from '#service/streaming/changes.ts';
import type { HubDependencies, HubOptions } from '#service/streaming/hub.ts';
import { createSharedLog, type SharedLog } from '#service/streaming/levels/shared-log.ts';
import {
  account,
  createHubUnderTest,
  createScriptedLog,
  hash,
  trace,
  transaction,
  type Caller,
  type HubUnderTest,
  type ScriptedLog,
} from '../hub/hub-under-test.ts';
import { openGoodLink } from '#test/service/pending/redis-under-test.ts';

export const a = account('A');

/** Subscription of a test. */
export const wish = { accounts: new Set([a]), minFinality: 'pending' as const };

export function shown(number: number, finality: TraceSnapshot['finality'], name: string, of = a): TraceSnapshot {
  return trace(hash(number), { finality, transactions: [transaction(name, of)] });
}

export const expired = (number: number): Change => ({ kind: 'invalidation', key: hash(number), reason: 'expired' });

type Transactions = readonly { readonly hash: string }[];

/** Events as short texts, such as `pending t1`. */
export function namesIn({ events }: Pick<Caller, 'events'>): string[] {
  return events.map(({ type, finality, transactions, reason }) =>
    type === 'trace_invalidated' ? String(reason) : `${finality} ${(transactions as Transactions)[0]!.hash}`,
  );
}

export const resumedOf = ({ begun }: Caller): unknown => begun.at(-1)?.resumed;

/** Does to Redis what another writer may do. */
export async function commands<T>(redisUrl: string, work: (client: Redis) => Promise<T>): Promise<void> {
  const client = new Redis(redisUrl);
  await work(client);
  client.disconnect();
}

/** A pod of several that share an index and a log of levels. */
export type PodUnderTest = Omit<HubUnderTest, 'block'> & {
  /** Gives the pod's connections the blocks of the index that it has not seen. */
  readonly follow: () => Promise<void>;
  /** Newest block of the index when the pod started. */
  readonly startedAt: number;
  readonly close: () => Promise<void>;
};

export type PodsUnderTest = {
  readonly log: ScriptedLog;
  readonly scope: string;
  /** Adds a block to the index. Pods see it when they follow. @returns its seqno */
  readonly add: (...changes: readonly Change[]) => number;
  /** Starts a pod, and waits for its way to Redis. */
  readonly start: (over?: Partial<Omit<HubDependencies, 'log'>> & HubOptions) => Promise<PodUnderTest>;
  readonly close: () => Promise<void>;
};

export async function openSharedLog(url: string, scope: string, shortMs?: () => number): Promise<SharedLog> {
  const lines = { link: await openGoodLink(url), reading: await openGoodLink(url) };
  return createSharedLog(
    { scope },
    { ...lines, randomEpoch: () => randomInt(1, 2 ** 32), ...(shortMs && { shortMs }) },
  );
}

export function createPods(url: string): PodsUnderTest {
  const log = createScriptedLog();
  const scope = randomUUID();
  const pods = new Set<PodUnderTest>();
  return {
    log,
    scope,
    add: (...changes) => log.add(changes),
    async start(over = {}) {
      const shared = over.shared ?? (await openSharedLog(url, scope));
      let seqno = log.newest()?.mcSeqno ?? 0;
      const seen = { ...log, newest: () => (seqno === 0 ? null : { mcSeqno: seqno, index: WHOLE_BLOCK }) };
      const made = createHubUnderTest({ ...over, shared, log: seen });
      const pod = {
        ...made,
        startedAt: seqno,
        async follow(): Promise<void> {
          while (seqno < (log.newest()?.mcSeqno ?? 0)) {
            const changes = await log.changesOf(seqno + 1, new AbortController().signal);
            // The position moves in the same turn in which the changes are given, as in the final source.
            seqno++;
            if (made.hub.isWatched()) await made.hub.publish(changes);
          }
        },
        async close(): Promise<void> {
          pods.delete(pod);
          await made.hub.close();
        },
      };
      pods.add(pod);
      await expect.poll(() => made.hub.levels()).toBe('shared');
      return pod;
    },
    async close() {
      for (const pod of pods) await pod.close();
    },
  };
}

/** A pod that may lose Redis. */
export type LinkedPod = PodUnderTest & { readonly setAway: (isAway: boolean) => Promise<void> };

/** Milliseconds between two looks of a linked pod at the log. */
const READ_MS = 3;

export async function startLinkedPod(url: string, pods: PodsUnderTest): Promise<LinkedPod> {
  const log = await openSharedLog(url, pods.scope);
  let isAway = false;
  const pod = await pods.start({
    shared: {
      ...log,
      append: async (...given) => (isAway ? undefined : log.append(...given)),
      join: async (known) => (isAway ? undefined : log.join(known)),
      async read(after, waits) {
        const found = isAway ? undefined : await log.read(after, false);
        const isEmpty = found?.records.length === 0 && found.words.length === 0;
        if (waits && isEmpty) await sleep(READ_MS);
        return isAway ? undefined : found;
      },
    },
  });
  return {
    ...pod,
    async setAway(isNowAway) {
      isAway = isNowAway;
      await expect.poll(() => pod.hub.levels(), { interval: 2 }).toBe(isAway ? 'away' : 'shared');
    },
  };
}
