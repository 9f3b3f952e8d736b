import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of requests to the API server, with client-go's names for existing dashboards (operator/README.md#metrics). */
export type ClientMetrics = {
  /** `status` 0 is a request without an answer. */
  request(method: string, host: string, status: number, seconds: number): void;
};

/** A quick read 5 ms, a busy server 1 s, its own limit 60 s. */
const requestSecondsBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 5, 15, 30, 60];

export function createClientMetrics(register: Registry): ClientMetrics {
  const registers = [register];
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by HTTP status or <error>',
    labelNames: ['code', 'method', 'host'],
    registers,
  });
  const seconds = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Time of requests to the API server; of a watch, until its headers came',
    labelNames: ['verb', 'host'],
    buckets: requestSecondsBuckets,
    registers,
  });
  return {
    request(method, host, status, took) {
      requests.inc({ code: status === 0 ? '<error>' : String(status), method, host });
      seconds.observe({ verb: method, host }, took);
    },
  };
}

/** Why a watch began again. */
export type WatchRestart = 'closed' | 'error' | 'expired' | 'silent';

type CacheReadings = {
  readonly objects: () => number;
  /** Since the last event or bookmark of the watch that is silent longest. */
  readonly ageSeconds: () => number;
  /** Namespaces, with true for one whose watch is refused. The name '' is all namespaces. */
  readonly forbiddenNamespaces: () => ReadonlyMap<string, boolean>;
};

export type WatchMetrics = {
  restart(resource: string, reason: WatchRestart): void;
  handlerFailed(resource: string): void;
  /** Gauges of a cache are read when they are collected; the returned function removes them. */
  observe(resource: string, readings: CacheReadings): () => void;
};

export function createWatchMetrics(register: Registry): WatchMetrics {
  const registers = [register];
  const caches = new Map<string, CacheReadings>();
  const gauge = (name: string, help: string, read: (readings: CacheReadings) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ['resource'],
      registers,
      collect() {
        this.reset();
        for (const [resource, readings] of caches) this.set({ resource }, read(readings));
      },
    });
  gauge('ton_operator_cache_objects', 'Objects in the cache', ({ objects }) => objects());
  gauge(
    'ton_operator_cache_age_seconds',
    'Time since the last event or bookmark of the watch; it grows if the watch is stuck',
    ({ ageSeconds }) => ageSeconds(),
  );
  const forbidden = new Gauge({
    name: 'ton_operator_watch_forbidden',
    help: '1 while the API server refuses the watch (401 or 403); the namespace is empty for a watch of all',
    labelNames: ['resource', 'namespace'],
    collect() {
      this.reset();
      for (const [resource, { forbiddenNamespaces }] of caches) {
        for (const [namespace, isRefused] of forbiddenNamespaces())
          this.set({ resource, namespace }, isRefused ? 1 : 0);
      }
    },
    registers: [],
  });
  register.registerMetric(forbidden);
  const restarts = new Counter({
    name: 'ton_operator_watch_restarts_total',
    help: 'Restarted watches, by reason: closed (by the server), error, expired (the version was gone), silent',
    labelNames: ['resource', 'reason'],
    registers,
  });
  const failures = new Counter({
    name: 'ton_operator_watch_handler_failures_total',
    help: 'Events whose handler threw; the watch continued',
    labelNames: ['resource'],
    registers,
  });
  return {
    restart: (resource, reason) => restarts.inc({ resource, reason }),
    handlerFailed: (resource) => failures.inc({ resource }),
    observe(resource, readings) {
      caches.set(resource, readings);
      return () => caches.delete(resource);
    },
  };
}

/** Values that gauges of a queue read at collection. */
export type QueueReadings = {
  readonly depth: () => { readonly live: number; readonly initial: number };
  /** Start of each key's processing, ms of the queue's clock. */
  readonly runningSinceMs: () => readonly number[];
  readonly nowMs: () => number;
};

export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after';

export type QueueMetrics = {
  added(): void;
  retried(): void;
  /** A key was taken up after it waited `seconds`. */
  started(seconds: number): void;
  /** Processing took `seconds`. */
  finished(result: ReconcileResult, seconds: number): void;
  /** A terminal failure, a time-out or a bug. */
  failed(kind: 'terminal' | 'timeout' | 'panic'): void;
};

/** An idle reconcile takes 5 ms; the limit is 60 s. */
const reconcileSecondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics with controller-runtime's names, for its dashboards (operator/README.md#metrics). */
export function createQueueMetrics(
  register: Registry,
): (controller: string, concurrency: number, readings: QueueReadings) => QueueMetrics {
  const registers = [register];
  const queues = new Map<string, { concurrency: number; readings: QueueReadings }>();
  const labels = ['controller'] as const;
  const both = ['name', 'controller'] as const;
  const counter = (name: string, help: string, labelNames: readonly string[] = labels): Counter =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const histogram = (name: string, help: string, labelNames: readonly string[]): Histogram =>
    new Histogram({ name, help, labelNames: [...labelNames], buckets: reconcileSecondsBuckets, registers });
  const collected = (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: (controller: string, readings: QueueReadings, set: (value: number, more?: object) => void) => void,
  ): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers,
      collect() {
        for (const [controller, { readings }] of queues) {
          const known = labelNames.includes('name') ? { name: controller, controller } : { controller };
          read(controller, readings, (value, more) => this.set({ ...known, ...more }, value));
        }
      },
    });
  const results = counter('controller_runtime_reconcile_total', 'Reconciles, by result', ['controller', 'result']);
  const errors = counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed');
  const terminal = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Reconciles that failed until somebody changes the resource',
  );
  const panics = counter(
    'controller_runtime_reconcile_panics_total',
    'Reconciles that failed by a bug of the operator',
  );
  const timeouts = counter('controller_runtime_reconcile_timeouts_total', 'Reconciles that reached their time limit');
  const times = histogram('controller_runtime_reconcile_time_seconds', 'Time of one reconcile', labels);
  const concurrencies = new Gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Most reconciles at once',
    labelNames: [...labels],
    registers,
  });
  collected('controller_runtime_active_workers', 'Reconciles in progress', labels, (_name, readings, set) =>
    set(readings.runningSinceMs().length),
  );
  collected('workqueue_depth', 'Keys that wait', [...both, 'priority'], (_name, readings, set) => {
    for (const [priority, value] of Object.entries(readings.depth())) set(value, { priority });
  });
  collected('workqueue_unfinished_work_seconds', 'Sum of the times of keys in progress', both, (_name, readings, set) =>
    set(secondsOf(readings).reduce((sum, value) => sum + value, 0)),
  );
  collected(
    'workqueue_longest_running_processor_seconds',
    'Time of the key that is in progress longest',
    both,
    (_name, readings, set) => set(Math.max(0, ...secondsOf(readings))),
  );
  const adds = counter('workqueue_adds_total', 'Added keys', both);
  const retries = counter('workqueue_retries_total', 'Keys added again after a failure', both);
  const waits = histogram('workqueue_queue_duration_seconds', 'Time that a key waited', both);
  const works = histogram('workqueue_work_duration_seconds', 'Time to reconcile a key', both);

  return (controller, concurrency, readings) => {
    queues.set(controller, { concurrency, readings });
    const name = controller;
    concurrencies.set({ controller }, concurrency);
    for (const result of ['success', 'error', 'requeue', 'requeue_after']) results.inc({ controller, result }, 0);
    for (const metric of [errors, terminal, panics, timeouts]) metric.inc({ controller }, 0);
    return {
      added: () => adds.inc({ name, controller }),
      retried: () => retries.inc({ name, controller }),
      started: (seconds) => waits.observe({ name, controller }, seconds),
      finished(result, seconds) {
        results.inc({ controller, result });
        if (result === 'error') errors.inc({ controller });
        times.observe({ controller }, seconds);
        works.observe({ name, controller }, seconds);
      },
      failed: (kind) => ({ terminal, timeout: timeouts, panic: panics })[kind].inc({ controller }),
    };
  };
}

function secondsOf({ runningSinceMs, nowMs }: QueueReadings): number[] {
  return runningSinceMs().map((sinceMs) => (nowMs() - sinceMs) / 1000);
}

/** Gauge of the elector, with the name of client-go. */
export function createLeadingGauge(register: Registry): Gauge<'name'> {
  return new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process leads and may write',
    labelNames: ['name'],
    registers: [register],
  });
}

/** Panels of the leader in the dashboard of the operator. */
export const leaderPanels = [
  {
    row: 'TonApis',
    title: 'Leaders',
    description: '1 in good order',
    kind: 'stat',
    queries: { '': 'sum(leader_election_master_status)' },
  },
] as const;

/** Panels of queues in the dashboard of the operator. */
export const queuePanels = [
  {
    row: 'Work',
    title: 'Looks at resources',
    description: 'By result',
    unit: 'ops',
    queries: {
      '{{controller}} {{result}}': 'sum by (controller, result) (rate(controller_runtime_reconcile_total[RATE]))',
    },
  },
  {
    row: 'Work',
    title: 'Time of one look',
    unit: 's',
    queries: {
      '{{controller}} p50':
        'histogram_quantile(0.5, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket[RATE])))',
      '{{controller}} p99':
        'histogram_quantile(0.99, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket[RATE])))',
    },
  },
  {
    row: 'Work',
    title: 'Failures',
    description: 'By kind',
    unit: 'ops',
    queries: {
      '{{controller}} errors': 'sum by (controller) (rate(controller_runtime_reconcile_errors_total[RATE]))',
      '{{controller}} terminal': 'sum by (controller) (rate(controller_runtime_terminal_reconcile_errors_total[RATE]))',
      '{{controller}} panics': 'sum by (controller) (rate(controller_runtime_reconcile_panics_total[RATE]))',
      '{{controller}} timeouts': 'sum by (controller) (rate(controller_runtime_reconcile_timeouts_total[RATE]))',
    },
  },
  {
    row: 'Work',
    title: 'Queue',
    description: 'Keys that wait, by priority',
    queries: { '{{controller}} {{priority}}': 'sum by (controller, priority) (workqueue_depth)' },
  },
  {
    row: 'Work',
    title: 'Time in the queue',
    unit: 's',
    queries: {
      '{{controller}} p50':
        'histogram_quantile(0.5, sum by (le, controller) (rate(workqueue_queue_duration_seconds_bucket[RATE])))',
      '{{controller}} p99':
        'histogram_quantile(0.99, sum by (le, controller) (rate(workqueue_queue_duration_seconds_bucket[RATE])))',
    },
  },
  {
    row: 'Work',
    title: 'Workers',
    description: 'Busy ones, and the longest at one key',
    queries: {
      '{{controller}} busy': 'sum by (controller) (controller_runtime_active_workers)',
      '{{controller}} longest, s': 'max by (controller) (workqueue_longest_running_processor_seconds)',
    },
  },
] as const;

/** Panels of requests to the API server in the dashboard of the operator. */
export const clientPanels = [
  {
    row: 'API server',
    title: 'Requests',
    description: 'By status',
    unit: 'ops',
    queries: { '{{method}} {{code}}': 'sum by (method, code) (rate(rest_client_requests_total[RATE]))' },
  },
  {
    row: 'API server',
    title: 'Time of requests',
    unit: 's',
    queries: {
      '{{verb}} p99':
        'histogram_quantile(0.99, sum by (le, verb) (rate(rest_client_request_duration_seconds_bucket[RATE])))',
    },
  },
] as const;

/** Panels of watches in the dashboard of the operator. */
export const watchPanels = [
  {
    row: 'API server',
    title: 'Watches begun again',
    queries: {
      '{{resource}} {{reason}}': 'sum by (resource, reason) (increase(ton_operator_watch_restarts_total[RATE]))',
    },
  },
  {
    row: 'API server',
    title: 'Age of caches',
    description: 'Since the last event or bookmark',
    unit: 's',
    queries: { '{{resource}}': 'max by (resource) (ton_operator_cache_age_seconds)' },
  },
  {
    row: 'Process',
    title: 'Objects in caches',
    queries: { '{{resource}}': 'max by (resource) (ton_operator_cache_objects)' },
  },
] as const;
