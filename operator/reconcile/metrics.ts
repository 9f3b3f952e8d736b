import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { Condition, ObjectKey } from '../kubernetes/object.ts';
import { splitKey } from '../kubernetes/object.ts';

/** Metrics of writes to the cluster and of the state of resources. */
export type ReconcileMetrics = {
  write(kind: string, verb: string, result: 'ok' | 'error'): void;
  /** A foreign edit of a field of ours was undone. */
  driftCorrected(kind: string, manager: string): void;
  /** The API server did not take an object. */
  refused(kind: string, reason: string): void;
  /** From a new generation until it was Ready for the first time. */
  ready(kind: string, seconds: number): void;
  tonApi(key: ObjectKey, reading: TonApiReading): void;
  /** Undefined for a key that never ends. */
  keyExpiry(key: ObjectKey, unixSeconds: number | undefined): void;
  /** Removes the series of a deleted resource. */
  forget(key: ObjectKey): void;
};

type TonApiReading = {
  readonly conditions: readonly Condition[];
  readonly replicas: { readonly desired: number; readonly ready: number; readonly updated: number };
};

/** A change of limits is there in 2 s, a rollout takes minutes. */
const readySecondsBuckets = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800];

const statuses = ['True', 'False', 'Unknown'] as const;

export function createReconcileMetrics(
  register: Registry,
  build: { readonly version: string; readonly commit: string },
  readings: { readonly rolloutsWaiting: () => number },
): ReconcileMetrics {
  const registers = [register];
  const info = new Gauge({
    name: 'ton_operator_build_info',
    help: 'Always 1; the labels say what runs',
    labelNames: ['version', 'commit'],
    registers,
  });
  info.set(build, 1);
  const writes = new Counter({
    name: 'ton_operator_writes_total',
    help: 'Writes to the API server; flat while nothing changes',
    labelNames: ['kind', 'verb', 'result'],
    registers,
  });
  const drift = new Counter({
    name: 'ton_operator_drift_corrections_total',
    help: 'Undone foreign edits of fields of the operator, by the manager that made them',
    labelNames: ['kind', 'manager'],
    registers,
  });
  const refusals = new Counter({
    name: 'ton_operator_refusals_total',
    help: 'Writes that the API server refused, by kind of the object and reason',
    labelNames: ['kind', 'reason'],
    registers,
  });
  const readySeconds = new Histogram({
    name: 'ton_operator_apply_to_ready_seconds',
    help: 'Time from the change of a resource until it is Ready',
    labelNames: ['kind'],
    buckets: readySecondsBuckets,
    registers,
  });
  const waiting = new Gauge({
    name: 'ton_operator_rollout_queue',
    help: 'TonApis that wait for a rollout slot',
    registers,
    collect() {
      this.set(readings.rolloutsWaiting());
    },
  });
  waiting.set(0);
  const conditions = new Gauge({
    name: 'ton_api_condition',
    help: '1 for the present status of a condition of a TonApi, 0 for the others',
    labelNames: ['namespace', 'name', 'type', 'status'],
    registers,
  });
  const reasons = new Gauge({
    name: 'ton_api_condition_reason',
    help: 'Always 1; the label is the present reason of a condition of a TonApi',
    labelNames: ['namespace', 'name', 'type', 'reason'],
    registers,
  });
  const replicas = new Gauge({
    name: 'ton_api_replicas',
    help: 'API pods of a TonApi, by state: desired, ready, updated (to the newest template)',
    labelNames: ['namespace', 'name', 'state'],
    registers,
  });
  const expiry = new Gauge({
    name: 'ton_api_key_expiry_timestamp_seconds',
    help: 'Unix time at which a TonApiKey expires for good',
    labelNames: ['namespace', 'name'],
    registers,
  });
  /** Conditions that a TonApi was last seen with: type -> reason. */
  const known = new Map<ObjectKey, ReadonlyMap<string, string>>();

  /** Series of types and reasons that are no more. */
  function forgetAllBut(key: ObjectKey, now: ReadonlyMap<string, string>): void {
    const name = splitKey(key);
    for (const [type, reason] of known.get(key) ?? []) {
      if (now.get(type) !== reason) reasons.remove({ ...name, type, reason });
      if (!now.has(type)) for (const status of statuses) conditions.remove({ ...name, type, status });
    }
  }

  return {
    write: (kind, verb, result) => writes.inc({ kind, verb, result }),
    driftCorrected: (kind, manager) => drift.inc({ kind, manager }),
    refused: (kind, reason) => refusals.inc({ kind, reason }),
    ready: (kind, seconds) => readySeconds.observe({ kind }, seconds),
    tonApi(key, reading) {
      const name = splitKey(key);
      const now = new Map(reading.conditions.map(({ type, reason }) => [type, reason]));
      forgetAllBut(key, now);
      known.set(key, now);
      for (const { type, status, reason } of reading.conditions) {
        reasons.set({ ...name, type, reason }, 1);
        for (const other of statuses) conditions.set({ ...name, type, status: other }, other === status ? 1 : 0);
      }
      for (const [state, value] of Object.entries(reading.replicas)) replicas.set({ ...name, state }, value);
    },
    keyExpiry(key, unixSeconds) {
      if (unixSeconds === undefined) expiry.remove(splitKey(key));
      else expiry.set(splitKey(key), unixSeconds);
    },
    forget(key) {
      forgetAllBut(key, new Map());
      known.delete(key);
      for (const state of ['desired', 'ready', 'updated']) replicas.remove({ ...splitKey(key), state });
      expiry.remove(splitKey(key));
    },
  };
}

/** Panels of TonApis in the dashboard of the operator. */
export const tonApiPanels = [
  {
    row: 'TonApis',
    title: 'TonApis',
    description: 'Looked after by the operator',
    kind: 'stat',
    queries: { '': 'count(count by (namespace, name) (ton_api_condition{type="Ready",status="True"}))' },
  },
  {
    row: 'TonApis',
    title: 'Not Ready',
    kind: 'stat',
    queries: { '': 'sum(max by (namespace, name) (ton_api_condition{type="Ready",status="True"}) == bool 0)' },
  },
  {
    row: 'TonApis',
    title: 'Paused',
    kind: 'stat',
    queries: { '': 'sum(max by (namespace, name) (ton_api_condition{type="Paused",status="True"})) or vector(0)' },
  },
  {
    row: 'TonApis',
    title: 'Waiting to roll out',
    description: 'TonApis whose new template waits for its turn',
    kind: 'stat',
    queries: { '': 'max(ton_operator_rollout_queue)' },
  },
  {
    row: 'TonApis',
    title: 'Conditions',
    description: 'Why a TonApi is not as it should be',
    kind: 'table',
    height: 9,
    queries: { '': 'max by (namespace, name, type, reason) (ton_api_condition_reason)' },
  },
  {
    row: 'TonApis',
    title: 'Pods',
    description: 'Wanted, ready and new pods of every TonApi',
    height: 9,
    queries: { '{{namespace}}/{{name}} {{state}}': 'max by (namespace, name, state) (ton_api_replicas)' },
  },
] as const;

/** Panels of versions in the dashboard of the operator. */
export const buildPanels = [
  {
    row: 'TonApis',
    title: 'Version',
    kind: 'stat',
    queries: { '': 'count by (version) (ton_operator_build_info)' },
  },
] as const;

/** Panels of writes in the dashboard of the operator. */
export const writePanels = [
  {
    row: 'Work',
    title: 'From a change to Ready',
    unit: 's',
    queries: {
      '{{kind}} p50':
        'histogram_quantile(0.5, sum by (le, kind) (rate(ton_operator_apply_to_ready_seconds_bucket[RATE])))',
      '{{kind}} p99':
        'histogram_quantile(0.99, sum by (le, kind) (rate(ton_operator_apply_to_ready_seconds_bucket[RATE])))',
    },
  },
  {
    row: 'API server',
    title: 'Writes',
    description: 'Flat while nothing changes',
    unit: 'ops',
    queries: { '{{verb}} {{kind}} {{result}}': 'sum by (kind, verb, result) (rate(ton_operator_writes_total[RATE]))' },
  },
  {
    row: 'API server',
    title: 'Drift corrected',
    description: 'Foreign edits that were undone',
    queries: {
      '{{kind}} by {{manager}}': 'sum by (kind, manager) (increase(ton_operator_drift_corrections_total[RATE]))',
    },
  },
] as const;
