import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import {
  claimMetadataTasks,
  readMetadataBacklog,
  releaseMetadataTasks,
  type MetadataBacklog,
  type MetadataTask,
} from '../store/metadata-tasks.ts';
import type { Store } from '../store/store.ts';
import { createAttempt } from './attempt.ts';
import type { Fetcher } from './fetch.ts';
import { createHands, type TaskInHand } from './hands.ts';
import { createMetadataMetrics } from './metrics.ts';

export type MetadataOptions = {
  /** Requests under way at once, in all and to one host: as the fetcher has them. */
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  /** Between looks into a queue that had nothing due; default 1 s. */
  readonly idleMs?: number;
};

export type MetadataDependencies = {
  readonly store: Store;
  readonly fetcher: Fetcher;
  readonly logger: Logger;
  readonly register: Registry;
  /** Milliseconds, ascending. */
  readonly clock: () => number;
  /** A number below 2^63 that no other claim has. */
  readonly newClaim: () => bigint;
};

export type MetadataStatus = {
  /** Tokens that this process has taken from the queue. */
  readonly held: number;
  /** Of all processes; undefined until it was read. */
  readonly backlog: MetadataBacklog | undefined;
  /** Since the start of the process. */
  readonly fetched: number;
  readonly failed: number;
  /** Why the queue cannot be read at the moment. */
  readonly trouble: string | undefined;
  /** One line for a person. */
  readonly text: string;
};

/** Works on the queue of tokens until it is closed. */
export type Metadata = {
  status(): MetadataStatus;
  /** What is under way is given back to the queue. */
  close(): Promise<void>;
};

const idleDefaultMs = 1000;

/** Between looks at how much there is to do, which only people and metrics want to know. */
const backlogMs = 10_000;

/** Enough to tell "much"; counting goes on no longer than some milliseconds. */
const tasksCountedMax = 100_000;

/** A Postgres that is away is asked again after as long. */
const troubleMs = 5000;

/** Fetches what the queue asks for and writes it down. Any number of processes may share a queue: each task is one's at a time. */
export function createMetadata(options: MetadataOptions, dependencies: MetadataDependencies): Metadata {
  const { store, fetcher, logger, register, clock, newClaim } = dependencies;
  const { idleMs = idleDefaultMs } = options;
  const hands = createHands(options);
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  let backlog: MetadataBacklog | undefined;
  let backlogReadMs = -Infinity;
  let trouble: string | undefined;
  let woken = new AbortController();
  const metrics = createMetadataMetrics(register, { backlog: () => backlog, held: () => hands.count() });
  const attempt = createAttempt({ store, fetcher, logger, metrics, clock, signal: closing.signal });

  async function work(task: TaskInHand): Promise<void> {
    await attempt.run(task);
    hands.letGo(task);
    woken.abort();
  }

  /** @returns whether there may be more at once */
  async function fill(): Promise<boolean> {
    const tasksMax = hands.room();
    if (tasksMax === 0) return false;
    const claimed = await claimMetadataTasks(store, { tasksMax, claim: newClaim(), busyHosts: hands.busyHosts() });
    const back: MetadataTask[] = [];
    for (const task of claimed) {
      const plan = attempt.plan(task);
      const inHand = hands.take({ task, plan });
      if (inHand === undefined) back.push({ ...task, host: plan.host });
      else track(work(inHand));
    }
    await releaseMetadataTasks(store, back);
    return claimed.length > 0;
  }

  function track(job: Promise<void>): void {
    underWay.add(job);
    void job.finally(() => underWay.delete(job));
  }

  async function look(): Promise<boolean> {
    try {
      if (clock() - backlogReadMs >= backlogMs) {
        backlog = await readMetadataBacklog(store, tasksCountedMax);
        backlogReadMs = clock();
      }
      const isMore = await fill();
      trouble = undefined;
      return isMore;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== trouble) logger.warn({ err: error }, 'the queue of metadata cannot be read');
      trouble = why;
      return false;
    }
  }

  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      // Whoever ends while the queue is looked into hastens the next look too.
      woken = new AbortController();
      if (await look()) continue;
      const isCalm = trouble === undefined;
      const signal = isCalm ? AbortSignal.any([closing.signal, woken.signal]) : closing.signal;
      await sleep(isCalm ? idleMs : troubleMs, undefined, { signal }).catch(() => undefined);
    }
  }

  const following = follow();

  return {
    status() {
      const { fetched, failed } = attempt.counts();
      const waiting = backlog === undefined ? 'the queue was not read yet' : `${backlog.tasks} in the queue`;
      const text = `${fetched} fetched, ${failed} failed, ${hands.count()} in hand, ${trouble ?? waiting}`;
      return { held: hands.count(), backlog, fetched, failed, trouble, text };
    },
    async close() {
      closing.abort(new Error('closing'));
      await following;
      await Promise.all(underWay);
    },
  };
}
