import { latencyBucketsSeconds } from '#service/telemetry/latency-buckets.ts';
import { readDurationMs } from '../service-config.ts';

/** Inputs of the alert rules of one TonApi. */
type RuleFacts = {
  readonly namespace: string;
  readonly name: string;
  readonly network: string;
  /** Percent, `99.9`. */
  readonly availability: string;
  /** Duration, `1s`. */
  readonly latency: string;
  /** Undefined when only the pods read the list. */
  readonly liteServers: number | undefined;
  /** It has an indexer. */
  readonly indexed: boolean;
  /** Lag beyond which the primary answers in place of the read replica, such as `30s`; undefined without a read replica. */
  readonly replicaMaxLag: string | undefined;
  /** It serves streams. */
  readonly streamed: boolean;
  readonly runbookUrl: string | undefined;
  /** Values of the label `severity` for an Alertmanager with other words; absent: our own. */
  readonly severities?: Severities | undefined;
  /** Prometheus scrapes API pods, and there are to be some. */
  readonly scraped: boolean;
  /** Name of the Service through which Prometheus finds the API's pods. */
  readonly service: string;
  /** A blackbox exporter asks the hosts of the exposure. */
  readonly probed: boolean;
};

type Rule = Readonly<Record<string, unknown>>;
/** `critical`: act now; `warning`: act within a working day; `info`: for reading. */
export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/** Other words for severities, such as `critical` -> `page`. */
export type Severities = { readonly [severity in Severity]?: string };

/** Share of the requests that must be within the latency objective. The slowest hundredth asks for old states and heavy get-methods. */
const LATENCY_OBJECTIVE = 0.99;

/** Requests a second below which a short window holds too few of them to judge by. */
const TRAFFIC_FLOOR = 1;

/** Burn rates of the monthly error budget (operator/README.md#alerts). The short window ends the alert soon after the burn ends. */
const burns: readonly { factor: number; long: string; short: string; severity: Severity }[] = [
  { factor: 14.4, long: '1h', short: '5m', severity: 'critical' },
  { factor: 6, long: '6h', short: '30m', severity: 'critical' },
  { factor: 3, long: '1d', short: '2h', severity: 'warning' },
  { factor: 1, long: '3d', short: '6h', severity: 'warning' },
];

/** Every window once, shortest first. */
const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const;

/** Ratios of bad requests to all by window, so that every alert reads a series of its own TonApi. */
export function recordingRules(facts: RuleFacts): Rule[] {
  const pods = selector(facts);
  const edge = latencyEdge(facts.latency);
  return windows.flatMap((window) => {
    const all = `sum(rate(ton_http_requests_total{${pods}}[${window}]))`;
    const failed = `sum(rate(ton_http_requests_total{${pods},status=~"5.."}[${window}]))`;
    const timed = `sum(rate(ton_http_request_duration_seconds_count{${pods}}[${window}]))`;
    const quick = `sum(rate(ton_http_request_duration_seconds_bucket{${pods},le="${edge}"}[${window}]))`;
    return [
      record(facts, `tonapi:http_requests:rate${window}`, all),
      record(facts, `tonapi:http_error_ratio:rate${window}`, `(${failed} or vector(0)) / (${all} > 0)`),
      record(facts, `tonapi:http_slow_ratio:rate${window}`, `1 - (${quick} or vector(0)) / (${timed} > 0)`),
    ];
  });
}

/** Alerts on spent error budgets, on too few lite servers, on a head, an index or streams that fall behind. 429 is an answer, not an error. */
export function alertRules(facts: RuleFacts): Rule[] {
  const availability = 1 - Number(facts.availability) / 100;
  return [
    ...burnAlerts(facts, 'TonApiErrorBudgetBurn', 'http_error_ratio', availability, 'requests fail'),
    ...burnAlerts(
      facts,
      'TonApiLatencyBudgetBurn',
      'http_slow_ratio',
      1 - LATENCY_OBJECTIVE,
      `requests take over ${facts.latency}`,
    ),
    ...(facts.scraped
      ? [unreachable(facts, 'prometheus', `(sum(up{${selector(facts)},service="${facts.service}"}) or vector(0)) == 0`)]
      : []),
    ...(facts.probed ? [unreachable(facts, 'probe', `max(probe_success{${selector(facts)}}) == 0`)] : []),
    liteServersLow(facts),
    ...(facts.network === 'custom' ? [] : headLagging(facts)),
    ...(facts.indexed ? [indexLagging(facts)] : []),
    ...(facts.replicaMaxLag === undefined ? [] : [replicaLagging(facts, facts.replicaMaxLag)]),
    ...(facts.streamed ? streamAlerts(facts) : []),
  ];
}

function burnAlerts(facts: RuleFacts, alert: string, ratio: string, budget: number, what: string): Rule[] {
  const labels = `{namespace="${facts.namespace}",tonapi="${facts.name}"}`;
  return burns.map(({ factor, long, short, severity }) => {
    const limit = Number((factor * budget).toPrecision(6));
    const over = (window: string): string => `tonapi:${ratio}:rate${window}${labels} > ${limit}`;
    const expr = `${over(long)} and ${over(short)} and tonapi:http_requests:rate${short}${labels} > ${TRAFFIC_FLOOR}`;
    const summary = `TonApi ${facts.namespace}/${facts.name}: ${what}, ${factor} times as many as its objective allows over ${long}`;
    return alertRule(facts, { alert, expr, for: '2m', severity, summary, window: long });
  });
}

/** Availability from outside of the pods: without a pod there are no series by which an error budget could burn. */
function unreachable(facts: RuleFacts, from: 'prometheus' | 'probe', expr: string): Rule {
  const summary = `TonApi ${facts.namespace}/${facts.name}: ${from === 'probe' ? 'the probe gets no answer from any host' : 'Prometheus reaches no pod'}`;
  return alertRule(facts, { alert: 'TonApiUnreachable', expr, for: '1m', severity: 'critical', summary, from });
}

/** Fewer than two usable lite servers, or fewer than half. If another lite server fails, reads fail. */
function liteServersLow(facts: RuleFacts): Rule {
  const usable = `min(ton_pool_usable_lite_servers{${selector(facts)}})`;
  const fewest = Math.max(Math.min(2, facts.liteServers ?? 2), Math.ceil((facts.liteServers ?? 0) / 2));
  const summary = `TonApi ${facts.namespace}/${facts.name}: a pod has fewer than ${fewest} usable lite servers`;
  return alertRule(facts, {
    alert: 'TonApiLiteServersLow',
    expr: `${usable} < ${fewest}`,
    for: '5m',
    severity: 'warning',
    summary,
  });
}

/** Ages of the served head at which an alert fires, in seconds. Mainnet and testnet make a masterchain block every few seconds. */
const headAges: readonly { seconds: number; severity: Severity }[] = [
  { seconds: 60, severity: 'warning' },
  { seconds: 300, severity: 'critical' },
];

/**
 * Alerts when a pod serves an old head: answers of v2 are then as old. A pod without a head is not ready, and other alerts report it. A custom
 * network gets no such alert, because its blocks may come by hand.
 */
function headLagging(facts: RuleFacts): Rule[] {
  const age = `time() - min(ton_pool_head_utime_seconds{${selector(facts)}} > 0)`;
  const summary = `TonApi ${facts.namespace}/${facts.name}: a pod serves a masterchain head that is {{ $value | humanizeDuration }} old`;
  return headAges.map(({ seconds, severity }) =>
    alertRule(facts, { alert: 'TonApiHeadLagging', expr: `${age} > ${seconds}`, for: '2m', severity, summary }),
  );
}

/** Masterchain blocks that an index may be behind: two minutes of the main network. An index further behind at its start begins at the head. */
const LAG_BLOCKS_MAX = 50;

/** Alerts when data of v3 are old. Only the head counts: reading the past may take days, which is no fault. */
function indexLagging(facts: RuleFacts): Rule {
  const summary = `TonApi ${facts.namespace}/${facts.name}: the index is {{ $value }} masterchain blocks behind the network`;
  return alertRule(facts, {
    alert: 'TonApiIndexLagging',
    expr: `max(ton_indexer_lag_blocks{${selector(facts)}}) > ${LAG_BLOCKS_MAX}`,
    for: '5m',
    severity: 'warning',
    summary,
  });
}

/** Share of the bypassed reads above which a replica that answers some reads does not help. */
const BYPASSED_SHARE_MAX = 0.1;

/** Alerts when the primary has the load of the replica: the replica lags beyond its bound, or fails. */
function replicaLagging(facts: RuleFacts, maxLag: string): Rule {
  const pods = selector(facts);
  const lag = `max(ton_store_replica_lag_seconds{${pods}}) > ${readDurationMs(maxLag) / 1000}`;
  const bypassed = `sum(rate(ton_store_replica_bypasses_total{${pods}}[5m]))`;
  const failing = `${bypassed} > ${BYPASSED_SHARE_MAX} * sum(rate(ton_store_reads_total{${pods}}[5m]))`;
  const summary = `TonApi ${facts.namespace}/${facts.name}: the primary answers in place of the read replica of Postgres`;
  return alertRule(facts, {
    alert: 'TonApiReplicaLagging',
    expr: `${lag} or ${failing}`,
    for: '5m',
    severity: 'warning',
    summary,
  });
}

/** Seconds for which an indexed block may wait for its events. Its classification takes less than a second. */
const STREAM_LAG_SECONDS_MAX = 60;

/** Slow consumers in ten minutes: some bad clients are normal. More are a fault of the service when they are also a tenth of all streams. */
const SLOW_CONSUMERS = { count: 20, share: 0.1 } as const;

/** Callers in a quarter of an hour that came back after the window. Some clients return after days. */
const GAPS_MAX = 20;

/** Alerts on events that are late, that callers cannot take, that they will not get, and on another log of levels. */
function streamAlerts(facts: RuleFacts): Rule[] {
  const pods = selector(facts);
  const name = `TonApi ${facts.namespace}/${facts.name}`;
  const slow = `sum(increase(ton_streaming_slow_consumers_total{${pods}}[10m]))`;
  const unclassified = `sum(increase(ton_streaming_unclassified_blocks_total{${pods}}[15m])) > 0`;
  const beyond = `sum(increase(ton_streaming_resumes_total{${pods},result="none"}[15m])) > ${GAPS_MAX}`;
  return [
    alertRule(facts, {
      alert: 'TonApiStreamsLagging',
      expr: `max(ton_streaming_final_behind_seconds{${pods}}) > ${STREAM_LAG_SECONDS_MAX}`,
      for: '2m',
      severity: 'warning',
      summary: `${name}: a block waits for its events since {{ $value | humanizeDuration }}`,
    }),
    alertRule(facts, {
      alert: 'TonApiStreamsSlowConsumers',
      expr: `${slow} > ${SLOW_CONSUMERS.count} and ${slow} > ${SLOW_CONSUMERS.share} * sum(ton_streaming_connections{${pods}})`,
      for: '5m',
      severity: 'warning',
      summary: `${name}: {{ $value | humanize }} streams ended in ten minutes, because their callers read too slowly`,
    }),
    alertRule(facts, {
      alert: 'TonApiStreamsGap',
      expr: `${unclassified} or ${beyond}`,
      for: '0m',
      severity: 'warning',
      summary: `${name}: callers of streams miss events`,
    }),
    alertRule(facts, {
      alert: 'TonApiStreamsLogChanged',
      expr: `sum(increase(ton_streaming_levels_epochs_total{${pods}}[15m])) > 0`,
      for: '0m',
      severity: 'warning',
      summary: `${name}: streams below finalized that come back get final events alone`,
    }),
  ];
}

/** An alert before the labels of its resource, in the form of both resources. */
export type AlertParts = {
  readonly alert: string;
  readonly expr: string;
  /** Time for which the expression is true before the alert fires; absent: none. */
  readonly for?: string;
  readonly severity: Severity;
  readonly summary: string;
  /** Window of a burn rate. */
  readonly window?: string;
  /** Place from which availability is seen. */
  readonly from?: string;
};

function alertRule(facts: RuleFacts, { severity, summary, window, from, ...rule }: AlertParts): Rule {
  const page =
    facts.runbookUrl === undefined
      ? { runbook: `charts/tonplane/runbooks/${rule.alert}.md` }
      : { runbook_url: `${facts.runbookUrl}/${rule.alert}.md` };
  const labels = {
    severity: facts.severities?.[severity] ?? severity,
    namespace: facts.namespace,
    tonapi: facts.name,
    network: facts.network,
  };
  const more = { ...(window !== undefined && { window }), ...(from !== undefined && { from }) };
  return { ...rule, labels: { ...labels, ...more }, annotations: { summary, ...page } };
}

function record({ namespace, name, network }: RuleFacts, series: string, expr: string): Rule {
  return { record: series, expr, labels: { namespace, tonapi: name, network } };
}

function selector({ namespace, name }: RuleFacts): string {
  return `namespace="${namespace}",tonapi="${name}"`;
}

/** Largest edge not above the objective, so that no slow request counts as quick; the smallest when all are above. */
function latencyEdge(latency: string): number {
  const seconds = readDurationMs(latency) / 1000;
  return latencyBucketsSeconds.findLast((edge) => edge <= seconds) ?? latencyBucketsSeconds[0];
}
