import { Counter, Histogram, type Registry } from 'prom-client';

import type { MetadataBacklog } from '../store/metadata-tasks.ts';
import type { MetadataErrorCode } from './errors.ts';
import { registerReadGauge } from '../telemetry/read-gauge.ts';

/** Result of an attempt. `enough`: the chain has all data; `lost`: another process took the task over. */
export type AttemptResult = 'fetched' | 'enough' | 'nothing' | MetadataErrorCode | 'lost' | 'internal';

export type MetadataReadings = {
  /** Undefined until it was read. */
  readonly backlog: () => MetadataBacklog | undefined;
  readonly claimed: () => number;
};

/** Measures the work of one process. */
export type MetadataMetrics = {
  readonly ended: (result: AttemptResult) => void;
  readonly givenUp: () => void;
  /** Records the duration of a fetch, successful or not. */
  readonly took: (seconds: number) => void;
};

/** Buckets in seconds: from an answer of a nearby host to the limit of a fetch. */
const fetchBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

export function createMetadataMetrics(register: Registry, { backlog, claimed }: MetadataReadings): MetadataMetrics {
  const registers = [register];
  const attempts = new Counter({
    name: 'ton_metadata_attempts_total',
    help: 'Attempts to fetch off-chain data of tokens, by result: fetched; enough or nothing (by the data on the chain); lost (to another process); or the error',
    labelNames: ['result'],
    registers,
  });
  const givenUp = new Counter({
    name: 'ton_metadata_given_up_total',
    help: 'Tokens that wait a day after their last attempt failed',
    registers,
  });
  const seconds = new Histogram({
    name: 'ton_metadata_fetch_seconds',
    help: 'Time of a fetch, with redirects and the wait for a slot',
    buckets: fetchBuckets,
    registers,
  });
  registerReadGauge(
    register,
    'ton_metadata_tasks',
    'Tokens in the queue of all processes, counted up to 100,000',
    () => backlog()?.tasks,
  );
  registerReadGauge(
    register,
    'ton_metadata_oldest_task_seconds',
    'Time since the token that waits longest was due',
    () => backlog()?.oldestSeconds,
  );
  registerReadGauge(register, 'ton_metadata_claimed_tasks', 'Tokens that this process took from the queue', claimed);
  return {
    ended: (result: AttemptResult) => attempts.inc({ result }),
    givenUp: () => givenUp.inc(),
    took: (fetchSeconds: number) => seconds.observe(fetchSeconds),
  };
}
