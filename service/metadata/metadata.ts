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
import { createClaimedTasks, type ClaimedTask } from './claimed-tasks.ts';
import { createMetadataMetrics } from './metrics.ts';

export type MetadataOptions = {
  /** Most requests in flight, in all and to one host, as in the fetcher. */
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  /** Milliseconds between queries of a queue without due tasks; default 1 s. */
  readonly idleMs?: number;
};

export type MetadataDependencies = {
  readonly store: Store;
  readonly fetcher: Fetcher;
  readonly logger: Logger;
  readonly register: Registry;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  /** Returns a number below 2^63 that no other claim has. */
  readonly newClaim: () => bigint;
};

export type MetadataStatus = {
  /** Tokens that this process has claimed from the queue. */
  readonly held: number;
  /** Backlog of all processes; undefined until it was read. */
  readonly backlog: MetadataBacklog | undefined;
  /** Since the start of the process. */
  readonly fetched: number;
  readonly failed: number;
  /** Reason why the queue cannot be read now. */
  readonly trouble: string | undefined;
  /** Status as one line for a person. */
  readonly text: string;
};

/** Worker that serves the queue of tokens until it is closed. */
export type Metadata = {
  status(): MetadataStatus;
  /** Stops the worker and requeues tasks in progress. */
  close(): Promise<void>;
};

const IDLE_DEFAULT_MS = 1000;

/** Milliseconds between counts of the backlog, which only people and metrics read. */
const BACKLOG_MS = 10_000;

/** Largest counted backlog. A larger one is "much", and counting it would take more than some milliseconds. */
const TASKS_COUNTED_MAX = 100_000;

/** Milliseconds until an unavailable Postgres is queried again. */
const TROUBLE_MS = 5000;

/** Fetches the tokens of the queue and stores the results. Any number of processes may share a queue; each task is claimed by one at a time. */
export function createMetadata(options: MetadataOptions, dependencies: MetadataDependencies): Metadata {
  const { store, fetcher, logger, register, clock, newClaim } = dependencies;
  const { idleMs = IDLE_DEFAULT_MS } = options;
  const hands = createClaimedTasks(options);
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  let backlog: MetadataBacklog | undefined;
  let backlogReadMs = -Infinity;
  let trouble: string | undefined;
  let woken = new AbortController();
  const metrics = createMetadataMetrics(register, { backlog: () => backlog, claimed: () => hands.count() });
  const attempt = createAttempt({ store, fetcher, logger, metrics, clock, signal: closing.signal });

  async function work(task: ClaimedTask): Promise<void> {
    await attempt.run(task);
    hands.letGo(task);
    woken.abort();
  }

  /** @returns whether more tasks may be due at once */
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
      if (clock() - backlogReadMs >= BACKLOG_MS) {
        backlog = await readMetadataBacklog(store, TASKS_COUNTED_MAX);
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
      // A task that ends during the query also makes the next query earlier.
      woken = new AbortController();
      if (await look()) continue;
      const isCalm = trouble === undefined;
      const signal = isCalm ? AbortSignal.any([closing.signal, woken.signal]) : closing.signal;
      await sleep(isCalm ? idleMs : TROUBLE_MS, undefined, { signal }).catch(() => undefined);
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
