import { setImmediate as turn } from 'node:timers/promises';

import type { Logger } from 'pino';

import {
  endMetadataTask,
  releaseMetadataTasks,
  type MetadataOutcome,
  type MetadataTask,
} from '../store/metadata-tasks.ts';
import { withImageLinks } from '../store/token-content.ts';
import type { Store } from '../store/store.ts';
import { MetadataError } from './errors.ts';
import type { Fetcher } from './fetch.ts';
import type { ClaimedTask } from './claimed-tasks.ts';
import type { AttemptResult, MetadataMetrics } from './metrics.ts';
import { mergeTokenFields, planFetch } from './token-fields.ts';

/** Plan of a task, as far as it is known without a request. */
export type FetchPlan = {
  /** Host of the first request; null for none. */
  readonly host: string | null;
  readonly step: { readonly uri: string } | 'enough' | 'nothing' | 'dropped' | 'given_up' | MetadataError;
};

/** Executes tasks, one attempt each. */
export type Attempt = {
  plan(task: MetadataTask): FetchPlan;
  /** Executes one task. Never rejects. */
  run(one: ClaimedTask): Promise<void>;
  /** Counts since the start. */
  counts(): { readonly fetched: number; readonly failed: number };
};

export type AttemptDependencies = {
  readonly store: Store;
  readonly fetcher: Fetcher;
  readonly logger: Logger;
  readonly metrics: MetadataMetrics;
  readonly clock: () => number;
  /** Ends tasks in progress; they are requeued. */
  readonly signal: AbortSignal;
};

/** Most attempts of a task: one, and five more (service/metadata/README.md#token-metadata). */
export const ATTEMPTS_MAX = 6;
const BACKOFF_SECONDS = 5;
const BACKOFF_SECONDS_MAX = 300;

const WEEK_SECONDS = 7 * 24 * 3600;
/** Seconds until a failed token is due again. A host that recovers is found within a day of a request for the token. */
const DAY_SECONDS = 24 * 3600;

export function createAttempt(dependencies: AttemptDependencies): Attempt {
  const { store, fetcher, logger, metrics, clock, signal } = dependencies;
  let [fetched, failed] = [0, 0];

  async function fetchTimed(uri: string): Promise<Readonly<Record<string, unknown>>> {
    const began = clock();
    try {
      return await fetcher.fetch(uri, signal);
    } finally {
      metrics.took((clock() - began) / 1000);
    }
  }

  async function outcomeOf({ task, plan: { step } }: ClaimedTask): Promise<[AttemptResult, MetadataOutcome]> {
    if (step === 'dropped') return ['nothing', { kind: 'dropped' }];
    if (step === 'nothing' || step === 'given_up')
      return ['nothing', { kind: 'given_up', expiresInSeconds: DAY_SECONDS }];
    if (step instanceof MetadataError) throw step;
    const { type, content } = task;
    const outside = step === 'enough' ? null : await fetchTimed(step.uri);
    // Parsing a page of 10 MiB takes some 10 ms, and cleaning it as long. Other work runs between the two.
    if (outside !== null) await turn();
    const merged = mergeTokenFields(type, content ?? {}, outside);
    // Answers add the links to images on the web.
    const inIpfs = merged.image === null ? undefined : fetcher.ipfsUrlOf(merged.image);
    const words = { ...merged, extra: withImageLinks(merged.extra, inIpfs) };
    return [outside === null ? 'enough' : 'fetched', { kind: 'fetched', words, expiresInSeconds: WEEK_SECONDS }];
  }

  async function end(task: MetadataTask, result: AttemptResult, outcome: MetadataOutcome): Promise<void> {
    const isMine = await endMetadataTask(store, task, outcome);
    metrics.ended(isMine ? result : 'lost');
    if (!isMine) return;
    if (outcome.kind === 'fetched') fetched++;
    else if (outcome.kind !== 'dropped') failed++;
    if (outcome.kind === 'given_up') metrics.givenUp();
  }

  function failure(task: MetadataTask, error: unknown): [AttemptResult, MetadataOutcome] {
    const isOurs = error instanceof MetadataError;
    if (!isOurs) logger.error({ err: error }, 'metadata of a token failed');
    const isLast = (isOurs && !error.retryable) || task.attempts >= ATTEMPTS_MAX;
    const outcome: MetadataOutcome = isLast
      ? { kind: 'given_up', expiresInSeconds: DAY_SECONDS }
      : { kind: 'failed', againInSeconds: pauseSeconds(task.attempts), expiresInSeconds: DAY_SECONDS };
    return [isOurs ? error.code : 'internal', outcome];
  }

  /** Returns undefined when the task must be requeued instead of ended. */
  async function tryOnce(one: ClaimedTask): Promise<[AttemptResult, MetadataOutcome] | undefined> {
    try {
      return await outcomeOf(one);
    } catch (error) {
      return signal.aborted ? undefined : failure(one.task, error);
    }
  }

  return {
    plan(task) {
      if (task.content === null) return { host: null, step: 'dropped' };
      // The task was begun as often and never ended, so it has cost enough.
      if (task.attempts > ATTEMPTS_MAX) return { host: null, step: 'given_up' };
      const step = planFetch(task.type, task.content);
      if (typeof step === 'string') return { host: null, step };
      try {
        return { host: fetcher.hostOf(step.uri), step };
      } catch (error) {
        if (!(error instanceof MetadataError)) throw error;
        return { host: null, step: error };
      }
    },
    async run(one) {
      const ended = await tryOnce(one);
      try {
        if (ended === undefined) await releaseMetadataTasks(store, [one.task]);
        else await end(one.task, ...ended);
      } catch (error) {
        // Nothing was written, so the task falls due again by itself.
        metrics.ended('internal');
        logger.warn({ err: error }, 'metadata of a token could not be written');
      }
    },
    counts: () => ({ fetched, failed }),
  };
}

/** Returns the pause after this number of attempts. */
function pauseSeconds(attempts: number): number {
  return Math.min(BACKOFF_SECONDS_MAX, BACKOFF_SECONDS * 2 ** (attempts - 1));
}
