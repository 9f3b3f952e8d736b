import type { Gauge } from 'prom-client';
import type { Logger } from 'pino';

import type { KubernetesClient } from './client.ts';
import { pause, type Clock } from './clock.ts';
import { isApiError } from './errors.ts';
import { microTime, type KubernetesObject } from './object.ts';
import { resources } from './resources.ts';

/** Elects the leader: only the process that holds the Lease writes. */
export type Elector = {
  /** Resolves when this process begins to lead; never, when it is closed before. */
  readonly elected: Promise<void>;
  /** Resolves when it led and must not write any more. */
  readonly lost: Promise<void>;
  /** True if this process may write now, by its own clock, even after a freeze. */
  isLeading(): boolean;
  /** Stops; a leader gives the Lease up so that the next one starts at once. */
  close(): Promise<void>;
};

type ElectorOptions = {
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Unique to this process. */
  readonly identity: string;
};

type ElectorDependencies = {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** `leader_election_master_status`, 1 while this process leads. */
  readonly leading: Gauge<'name'>;
};

/** Silence of the holder before another process takes over; the default of controller-runtime (operator/README.md#leader-election). */
const LEASE_MS = 15_000;

/** A holder that could not renew for this long stops writing: 5 s before anyone else may start. */
const RENEW_DEADLINE_MS = 10_000;

/** Interval between readings of the Lease, times 1 to 1.2. */
const RETRY_MS = 2000;
const RETRY_JITTER = 0.2;

/** Requests for the Lease: a hung one must not eat the renew deadline. */
const REQUEST_MS = 5000;

/** Giving the Lease up is a kindness, not a duty. */
const RELEASE_MS = 1500;

type Lease = KubernetesObject & {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly leaseTransitions?: number;
  };
};

export function createElector(options: ElectorOptions, dependencies: ElectorDependencies): Elector {
  const { client, clock, random, logger, leading } = dependencies;
  const stop = new AbortController();
  const elected = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  /** Until when this process may write, by its own clock; undefined while it does not lead. */
  let mayWriteUntilMs: number | undefined;
  let hasLost = false;
  let cancelDeadline: (() => void) | undefined;
  /** The Lease as last seen, and since when it has been so. */
  let seen: { readonly lease: Lease; readonly sinceMs: number } | undefined;

  leading.set({ name: options.name }, 0);

  async function look(): Promise<void> {
    const bounds = { signal: stop.signal, timeoutMs: REQUEST_MS };
    const lease: Lease | undefined = await client.get(resources.Lease, options, bounds);
    const nowMs = clock.now();
    if (lease === undefined) return hold(await client.create(leaseOf(undefined), bounds), nowMs);
    const isSame = seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
    const { sinceMs } = (seen = isSame && seen !== undefined ? seen : { lease, sinceMs: nowMs });
    const holder = lease.spec?.holderIdentity ?? '';
    const durationMs = (lease.spec?.leaseDurationSeconds ?? LEASE_MS / 1000) * 1000;
    const expired = nowMs - sinceMs >= durationMs;
    if (holder === options.identity || holder === '' || expired) {
      hold(await client.replace(leaseOf(lease), bounds), nowMs);
    }
  }

  /** The Lease is ours as of a reading that began at `sinceMs`. Later writes took effect later. */
  function hold(lease: KubernetesObject, sinceMs: number): void {
    if (hasLost) return;
    seen = { lease, sinceMs };
    const isNew = mayWriteUntilMs === undefined;
    mayWriteUntilMs = sinceMs + RENEW_DEADLINE_MS;
    cancelDeadline?.();
    cancelDeadline = clock.after(mayWriteUntilMs - clock.now(), lose);
    if (!isNew) return;
    logger.info({ lease: options.name, identity: options.identity }, 'leads');
    leading.set({ name: options.name }, 1);
    elected.resolve();
  }

  function lose(): void {
    if (hasLost || mayWriteUntilMs === undefined) return;
    hasLost = true;
    leading.set({ name: options.name }, 0);
    logger.error({ lease: options.name }, 'could not renew the Lease: stops writing');
    lost.resolve();
    stop.abort();
  }

  function leaseOf(present: Lease | undefined): KubernetesObject {
    const now = microTime(clock.unixMs());
    const wasOurs = present?.spec?.holderIdentity === options.identity;
    const { acquireTime } = (present?.spec ?? {}) as { acquireTime?: string };
    return {
      apiVersion: resources.Lease.apiVersion,
      kind: 'Lease',
      metadata: present?.metadata ?? { namespace: options.namespace, name: options.name },
      spec: {
        holderIdentity: options.identity,
        leaseDurationSeconds: LEASE_MS / 1000,
        acquireTime: wasOurs && acquireTime !== undefined ? acquireTime : now,
        renewTime: now,
        leaseTransitions: (present?.spec?.leaseTransitions ?? 0) + (present === undefined || wasOurs ? 0 : 1),
      },
    };
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await look();
      } catch (error) {
        if (stop.signal.aborted) return;
        // Another process was faster: no fault.
        const level = isApiError(error, 'conflict') ? 'debug' : 'warn';
        logger[level]({ err: error instanceof Error ? error.message : error }, 'no answer about the Lease');
      }
      await pause(clock, RETRY_MS * (1 + RETRY_JITTER * random()), stop.signal);
    }
  }

  async function release(): Promise<void> {
    const { lease } = seen ?? {};
    if (lease === undefined || mayWriteUntilMs === undefined || hasLost) return;
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.unixMs()) };
    try {
      await client.replace({ ...lease, spec }, { timeoutMs: RELEASE_MS });
    } catch (error) {
      logger.warn({ err: error instanceof Error ? error.message : error }, 'the Lease was not given up; it runs out');
    }
  }

  const running = run();
  return {
    elected: elected.promise,
    lost: lost.promise,
    isLeading: () => mayWriteUntilMs !== undefined && !hasLost && clock.now() < mayWriteUntilMs,
    async close() {
      stop.abort();
      await running;
      cancelDeadline?.();
      await release();
      leading.set({ name: options.name }, 0);
      mayWriteUntilMs = undefined;
    },
  };
}
