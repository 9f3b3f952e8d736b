import type { Logger } from 'pino';

import type { Cache } from './cache.ts';
import type { KubernetesClient, ListQuery } from './client.ts';
import { backoffMs, pause, type Clock } from './clock.ts';
import { ApiError, fromStatus, isApiError } from './errors.ts';
import type { WatchMetrics, WatchRestart } from './metrics.ts';
import type { KubernetesObject } from './object.ts';
import type { Resource } from './resources.ts';
import { createWatchLoops, type WatchLoop } from './watch-loops.ts';
import { readWatch } from './watch-stream.ts';

/** Keeps a cache as the API server has it, over restarts and losses, until it is closed. */
export type Informer = {
  /** Resolves once everything there was has come in. A refused namespace counts as empty while another is readable. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  /** Refused three times in a row for want of credentials or permission, in every namespace. */
  forbidden(): boolean;
  /** True for a namespace that was refused and is not listed since the start: its objects are unknown. Without a name: any. */
  isUnknown(namespace?: string): boolean;
  /** Since the last event or bookmark of the watch that is silent longest. */
  ageSeconds(): number;
  close(): Promise<void>;
};

export type InformerOptions = {
  readonly resource: Resource;
  /** Undefined watches all namespaces in one go. */
  readonly namespaces: readonly string[] | undefined;
} & Pick<ListQuery, 'labelSelector' | 'fieldSelector' | 'metadataOnly'>;

export type InformerDependencies = {
  readonly client: KubernetesClient;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: WatchMetrics;
};

/** Objects of one page; the API server's own clients ask for as many. */
const PAGE_ITEMS = 500;

/** Duration after which the server ends a watch. Up to a minute of jitter separates the ends of watches that began together. */
const WATCH_SECONDS = 300;
const WATCH_JITTER_SECONDS = 60;

/** Bookmarks of a quiet watch are 60 to 120 s apart; longer silence is a dead connection (operator/README.md#watches). */
const SILENCE_MS = 180_000;

/** Pause after an error. Short: an API server is back within seconds, and all else waits for the watch (operator/README.md#targets). */
const retry = { baseMs: 500, maxMs: 4000, jitter: 0.2 };

/** A watch that the server ends at once, again and again, is an error and not a rhythm. */
const WATCH_MS_MIN = 1000;

/** Pause of a namespace that counts as forbidden. A deleted one may stay in the options for months. */
const FORBIDDEN_PAUSE_MS = 30_000;

export function createInformer(options: InformerOptions, dependencies: InformerDependencies): Informer {
  const { client, cache, clock, random, logger, metrics } = dependencies;
  const { resource, labelSelector, fieldSelector, metadataOnly } = options;
  /** Title of the watch, in metrics and logs. */
  const title = metadataOnly === true ? `${resource.kind} metadata` : resource.kind;
  const stop = new AbortController();
  const loops = createWatchLoops(options.namespaces, clock);
  const queryOf = (loop: WatchLoop) => ({
    namespace: loop.namespace,
    labelSelector,
    fieldSelector,
    ...(metadataOnly && { metadataOnly }),
  });

  /** Takes in all pages; answers the version to watch from. */
  async function list(loop: WatchLoop): Promise<string> {
    const items: KubernetesObject[] = [];
    let continueAt: string | undefined;
    let version: string;
    do {
      const query = { ...queryOf(loop), limit: PAGE_ITEMS, continueAt };
      const page = await client.list(resource, query, { signal: stop.signal });
      items.push(...page.items);
      ({ continueAt } = page);
      version = page.resourceVersion;
    } while (continueAt !== undefined);
    cache.replace(loop.namespace, items, version, !loop.isListed);
    loops.listed(loop);
    return version;
  }

  /** Watches until the server ends the watch. Returns the version to continue from. */
  async function watch(loop: WatchLoop, from: string, seen: (version: string) => void): Promise<void> {
    const connection = new AbortController();
    const end = (): void => connection.abort(new ApiError(silence(resource.kind)));
    let cancelSilence = clock.after(SILENCE_MS, end);
    const timeoutSeconds = WATCH_SECONDS + Math.floor(random() * WATCH_JITTER_SECONDS);
    const signal = AbortSignal.any([stop.signal, connection.signal]);
    try {
      const bytes = await client.watch(resource, { ...queryOf(loop), resourceVersion: from, timeoutSeconds }, signal);
      loop.refusals = 0;
      for await (const line of readWatch(`WATCH ${resource.kind}`, bytes)) {
        loop.aliveAtMs = clock.now();
        cancelSilence();
        cancelSilence = clock.after(SILENCE_MS, end);
        take(line.type, line.object);
        seen(line.object.metadata.resourceVersion ?? from);
      }
    } catch (error) {
      throw connection.signal.aborted ? connection.signal.reason : error;
    } finally {
      cancelSilence();
      connection.abort();
    }
  }

  function take(type: string, object: KubernetesObject): void {
    if (type === 'ERROR') {
      const { code } = object as unknown as { code?: number };
      throw fromStatus(`WATCH ${resource.kind}`, code ?? 500, object, undefined);
    }
    if (type === 'BOOKMARK') cache.passed(object.metadata.resourceVersion ?? '0');
    else if (type === 'DELETED') cache.remove({ ...object, apiVersion: resource.apiVersion, kind: resource.kind });
    else cache.set({ ...object, apiVersion: resource.apiVersion, kind: resource.kind });
  }

  /** Lists, then watches, without end. The version survives errors; the loop drops it when the server has forgotten it. */
  async function run(loop: WatchLoop): Promise<void> {
    let version: string | undefined;
    let failures = 0;
    while (!stop.signal.aborted) {
      const startedMs = clock.now();
      try {
        version ??= await list(loop);
        loop.aliveAtMs = clock.now();
        await watch(loop, version, (passed) => {
          version = passed;
          failures = 0;
        });
        metrics.restart(title, 'closed');
        if (clock.now() - startedMs >= WATCH_MS_MIN) failures = 0;
        else await pause(clock, backoffMs(retry, failures++, random), stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (mustRelist(error)) version = undefined;
        const delayMs = judge(loop, error, backoffMs(retry, failures++, random));
        await pause(clock, delayMs, stop.signal);
      }
    }
  }

  /** Counts and logs an error; answers how long to wait. */
  function judge(loop: WatchLoop, error: unknown, plainMs: number): number {
    const reason: WatchRestart = isApiError(error, 'gone')
      ? 'expired'
      : isApiError(error, 'timeout') && error.data.reason === silentReason
        ? 'silent'
        : 'error';
    metrics.restart(title, reason);
    const message = error instanceof Error ? error.message : String(error);
    const facts = { resource: title, namespace: loop.namespace, err: message };
    logger.warn({ ...facts, reason }, 'watch begins again');
    if (!isApiError(error, 'unauthorized', 'forbidden')) loop.refusals = 0;
    else if (loops.refused(loop)) logger.error(facts, 'the API server refuses the watch: what is there is unknown');
    if (reason !== 'error') return 0;
    const pauseMs = loops.isLeftOut(loop) ? FORBIDDEN_PAUSE_MS : plainMs;
    return isApiError(error) ? (error.data.retryAfterMs ?? pauseMs) : pauseMs;
  }

  const { forbidden, forbiddenNamespaces, ageSeconds, isUnknown } = loops;
  const unobserve = metrics.observe(title, { objects: () => cache.size(), ageSeconds, forbiddenNamespaces });
  const running = Promise.all(loops.all.map(run));

  return {
    synced: loops.synced,
    hasSynced: loops.hasSynced,
    forbidden,
    isUnknown,
    ageSeconds,
    async close() {
      stop.abort();
      unobserve();
      await running;
    },
  };
}

const silentReason = 'Silent';

function silence(kind: string): ConstructorParameters<typeof ApiError>[0] {
  const request = `WATCH ${kind}`;
  return {
    code: 'timeout',
    message: `${request}: nothing came for ${SILENCE_MS / 1000} s`,
    data: { request, status: 0, reason: silentReason, retryAfterMs: undefined, causes: [] },
    retryable: true,
  } as const;
}

/** The server has forgotten the version, or what it sent cannot be trusted to be whole. */
function mustRelist(error: unknown): boolean {
  return !(error instanceof ApiError) || isApiError(error, 'gone', 'malformed');
}
