import { clientPanels, leaderPanels, queuePanels, watchPanels } from '#operator/kubernetes/metrics.ts';
import { buildPanels, tonApiPanels, writePanels } from '#operator/reconcile/metrics.ts';
import { httpPanels } from '#service/http/metrics.ts';
import { indexerPanels } from '#service/indexer/metrics.ts';
import { limitsPanels } from '#service/limits/metrics.ts';
import { liteServerPanels } from '#service/liteserver/metrics.ts';
import { configurationPanels } from '#service/main/configuration/metrics.ts';
import { poolPanels } from '#service/pool/metrics.ts';
import { proofPanels } from '#service/proof/metrics.ts';
import { storePanels } from '#service/store/metrics.ts';
import { streamingPanels } from '#service/streaming/metrics.ts';
import { tvmPanels } from '#service/tvm/metrics.ts';
import type { Dashboard } from './grafana.ts';
import { objectivePanels, objectiveRows } from './objectives.ts';

const namespaceOf = (series: string) =>
  ({ name: 'namespace', label: 'Namespace', values: `label_values(${series}, namespace)` }) as const;
const tonApiOf = (series: string) =>
  ({ name: 'tonapi', label: 'TonApi', values: `label_values(${series}{namespace="$namespace"}, tonapi)` }) as const;

/** Panels of a process, from the metrics that prom-client collects. */
const processPanels = [
  {
    row: 'Pods',
    title: 'Memory',
    unit: 'bytes',
    queries: { '{{pod}}': 'process_resident_memory_bytes{PODS}' },
  },
  {
    row: 'Pods',
    title: 'CPU',
    queries: { '{{pod}}': 'rate(process_cpu_seconds_total{PODS}[RATE])' },
  },
  {
    row: 'Pods',
    title: 'Event loop lag, p99',
    unit: 's',
    queries: { '{{pod}}': 'nodejs_eventloop_lag_p99_seconds{PODS}' },
  },
] as const;
const operatorProcessPanels = [
  {
    row: 'Process',
    title: 'Memory',
    unit: 'bytes',
    queries: { '{{instance}}': 'process_resident_memory_bytes and on (instance) leader_election_master_status' },
  },
  {
    row: 'Process',
    title: 'CPU',
    queries: {
      '{{instance}}': 'rate(process_cpu_seconds_total[RATE]) and on (instance) leader_election_master_status',
    },
  },
  {
    row: 'Process',
    title: 'Event loop lag, p99',
    unit: 's',
    queries: { '{{instance}}': 'nodejs_eventloop_lag_p99_seconds and on (instance) leader_election_master_status' },
  },
] as const;

const tonApiRows = ['Callers', 'Limits', 'Lite servers', 'Proofs and get-methods', 'Index', 'Streams', 'Pods'] as const;
const tonApi: Dashboard<(typeof tonApiRows)[number]> = {
  name: 'tonapi',
  title: 'TonApi',
  description: 'One TON API: callers, limits, lite servers, proofs, get-methods, streams, pods.',
  variables: [namespaceOf('ton_build_info'), tonApiOf('ton_build_info')],
  rows: tonApiRows,
  widths: { stat: 4, curves: 12 },
  panels: [
    ...httpPanels,
    ...limitsPanels,
    ...liteServerPanels,
    ...proofPanels,
    ...poolPanels,
    ...processPanels,
    ...configurationPanels,
    ...tvmPanels,
    ...indexerPanels,
    ...storePanels,
    ...streamingPanels,
  ],
};

const operatorRows = ['TonApis', 'Work', 'API server', 'Process'] as const;
const operator: Dashboard<(typeof operatorRows)[number]> = {
  name: 'operator',
  title: 'Operator',
  description: 'The operator: its queue, its writes, its caches, the TonApis it looks after.',
  variables: [],
  rows: operatorRows,
  widths: { stat: 4, curves: 12 },
  panels: [
    ...tonApiPanels,
    ...leaderPanels,
    ...buildPanels,
    ...queuePanels,
    ...writePanels,
    ...clientPanels,
    ...watchPanels,
    ...operatorProcessPanels,
  ],
};

const recorded = 'tonapi:http_requests:rate5m';
const objectives: Dashboard<(typeof objectiveRows)[number]> = {
  name: 'slo',
  title: 'Objectives',
  description:
    'Availability and latency of one TON API against their objectives, from the recorded ratios of its PrometheusRule.',
  variables: [
    namespaceOf(recorded),
    tonApiOf(recorded),
    { name: 'availability', label: 'Availability objective, %', choices: ['99.9', '99.5', '99', '99.95', '99.99'] },
  ],
  rows: objectiveRows,
  widths: { stat: 6, curves: 24 },
  panels: objectivePanels,
};

/** Dashboards of the chart, whose panels stand beside their metrics. */
export const dashboards = [tonApi, operator, objectives] as const;
