import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { operatorRules, tonApiRules, type RuleGroup } from '#test/support/charts.ts';
import { promtool, withoutPrometheus } from '#test/support/prometheus.ts';
import { spreadOf } from '#test/support/volume.ts';
import { replicaStories } from './replica-stories.ts';
import { streamStories, type Story } from './stream-stories.ts';

const leader = {
  'leader_election_master_status{instance="a"}': '1x9999',
  'leader_election_master_status{instance="b"}': '0x9999',
};
const ready = 'ton_api_condition{instance="a",namespace="ns",name="x",type="Ready",status="True"}';
const standby = 'ton_api_condition{instance="b",namespace="ns",name="x",type="Ready",status="True"}';
const replicas = (state: string): string => `ton_api_replicas{instance="a",namespace="ns",name="x",state="${state}"}`;
const up = (value: number) => ({
  'up{namespace="ton",tonapi="mainnet",service="mainnet-api",pod="p"}': `${value}x60`,
  'up{namespace="ton",tonapi="mainnet",service="mainnet-indexer",pod="q"}': '1x60',
});
const probed = (value: number) => ({ 'probe_success{namespace="ton",tonapi="mainnet"}': `${value}x60` });
const progressing = (reason: string): string =>
  `ton_api_condition_reason{namespace="ns",name="x",type="Progressing",reason="${reason}"}`;
const looks = (result: string): string => `controller_runtime_reconcile_${result}{controller="tonapi"}`;
const depth = (instance: string): string =>
  `workqueue_depth{instance="${instance}",controller="tonapi",priority="live"}`;
const day = 24 * 60;

/** Requests of the mainnet TonApi of namespace ton: `good` and `bad` a minute. */
const requests = (good: number, bad: number, minutes: number, refused = 10) => ({
  'ton_http_requests_total{namespace="ton",tonapi="mainnet",status="200"}': `0+${good}x${minutes}`,
  'ton_http_requests_total{namespace="ton",tonapi="mainnet",status="503"}': `0+${bad}x${minutes}`,
  'ton_http_requests_total{namespace="ton",tonapi="mainnet",status="429"}': `0+${refused}x${minutes}`,
});
const timed = (all: number, quick: number, minutes: number) => ({
  ...requests(all, 0, minutes),
  'ton_http_request_duration_seconds_count{namespace="ton",tonapi="mainnet"}': `0+${all}x${minutes}`,
  'ton_http_request_duration_seconds_bucket{namespace="ton",tonapi="mainnet",le="1"}': `0+${quick}x${minutes}`,
});
const lagging = (values: string) => ({
  'ton_indexer_lag_blocks{namespace="ton",tonapi="mainnet",pod="writer"}': values,
  'ton_indexer_lag_blocks{namespace="ton",tonapi="mainnet",pod="other"}': '0x60',
});
/** Heads of two pods, as Unix time. One pod follows the network. */
const heads = (other: string) => ({
  'ton_pool_head_utime_seconds{namespace="ton",tonapi="mainnet",pod="p"}': '0+60x60',
  'ton_pool_head_utime_seconds{namespace="ton",tonapi="mainnet",pod="q"}': other,
});
const usable = (count: number) => ({
  'ton_pool_usable_lite_servers{namespace="ton",tonapi="mainnet",pod="p"}': `${count}x60`,
});

const stories: readonly Story[] = [
  {
    alert: 'TonOperatorDown',
    title: 'nobody leads',
    series: { 'leader_election_master_status{instance="a"}': '0x60' },
    at: '10m',
    firing: 1,
  },
  { alert: 'TonOperatorDown', title: 'one leads, one stands by', series: leader, at: '10m', firing: 0 },
  {
    alert: 'TonOperatorReconcileErrors',
    title: 'a fifth of the looks fails',
    series: { [looks('errors_total')]: '0+12x90', [looks('total')]: '0+60x90' },
    at: '60m',
    firing: 1,
  },
  {
    alert: 'TonOperatorReconcileErrors',
    title: 'a twentieth fails',
    series: { [looks('errors_total')]: '0+3x90', [looks('total')]: '0+60x90' },
    at: '60m',
    firing: 0,
  },
  {
    alert: 'TonOperatorQueueStuck',
    title: 'one key is worked on without an end',
    series: { ...leader, 'workqueue_longest_running_processor_seconds{controller="tonapi",instance="a"}': '0+60x60' },
    at: '30m',
    firing: 1,
  },
  {
    alert: 'TonOperatorQueueStuck',
    title: 'the leader has 200 keys that wait',
    series: { ...leader, [depth('a')]: '200x60' },
    at: '30m',
    firing: 1,
  },
  {
    alert: 'TonOperatorQueueStuck',
    title: 'a standby has 200, for it works on none',
    series: { ...leader, [depth('b')]: '200x60' },
    at: '30m',
    firing: 0,
  },
  {
    alert: 'TonOperatorCacheStale',
    title: 'a watch is silent',
    series: { 'ton_operator_cache_age_seconds{resource="pods"}': '0+60x60' },
    at: '20m',
    firing: 1,
  },
  {
    alert: 'TonOperatorCacheStale',
    title: 'bookmarks come',
    series: { 'ton_operator_cache_age_seconds{resource="pods"}': '110x60' },
    at: '20m',
    firing: 0,
  },
  {
    alert: 'TonOperatorWatchForbidden',
    title: 'a kind is refused',
    series: {
      'ton_operator_watch_forbidden{resource="secrets",namespace="a"}': '1x60',
      'ton_operator_watch_forbidden{resource="secrets",namespace="b"}': '0x60',
    },
    at: '10m',
    firing: 1,
  },
  {
    alert: 'TonOperatorWatchForbidden',
    title: 'nothing is refused',
    series: { 'ton_operator_watch_forbidden{resource="secrets"}': '0x60' },
    at: '10m',
    firing: 0,
  },
  {
    alert: 'TonOperatorFieldFight',
    title: 'one manager is corrected each minute',
    series: { 'ton_operator_drift_corrections_total{kind="Deployment",manager="other"}': '0+1x60' },
    at: '40m',
    firing: 1,
  },
  {
    alert: 'TonOperatorFieldFight',
    title: 'somebody edited something by hand, twice',
    series: { 'ton_operator_drift_corrections_total{kind="Deployment",manager="kubectl"}': '0 0 1 1 2 2x60' },
    at: '40m',
    firing: 0,
  },
  {
    alert: 'TonOperatorWritesInSteadyState',
    title: 'it writes and nobody asked',
    series: { 'ton_operator_writes_total{kind="Deployment"}': '0+30x300' },
    at: '150m',
    firing: 1,
  },
  {
    alert: 'TonOperatorWritesInSteadyState',
    title: 'it writes because TonApis change',
    series: {
      'ton_operator_writes_total{kind="Deployment"}': '0+30x300',
      'ton_operator_apply_to_ready_seconds_count{kind="TonApi"}': '0+1x300',
    },
    at: '150m',
    firing: 0,
  },
  {
    alert: 'TonOperatorWritesInSteadyState',
    title: 'it writes nothing',
    series: { 'ton_operator_writes_total{kind="Deployment"}': '500x300' },
    at: '150m',
    firing: 0,
  },
  {
    alert: 'TonOperatorEventLoopLag',
    title: 'the loop stands still',
    series: { ...leader, 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '2x60' },
    at: '20m',
    firing: 1,
  },
  {
    alert: 'TonOperatorEventLoopLag',
    title: 'a pod of the service is slow, which is not its matter',
    series: { ...leader, 'nodejs_eventloop_lag_p99_seconds{instance="pod"}': '2x60' },
    at: '20m',
    firing: 0,
  },
  {
    alert: 'TonApiDown',
    title: 'all pods are away for three minutes',
    series: { ...leader, [replicas('desired')]: '3x60', [replicas('ready')]: '3x20 0x40' },
    at: '23m',
    firing: 1,
  },
  {
    alert: 'TonApiDown',
    title: 'pods are back',
    series: { ...leader, [replicas('desired')]: '3x60', [replicas('ready')]: '0x20 3x40' },
    at: '23m',
    firing: 0,
  },
  {
    alert: 'TonApiDown',
    title: 'no pods are wanted',
    series: { ...leader, [replicas('desired')]: '0x60', [replicas('ready')]: '0x60' },
    at: '30m',
    firing: 0,
  },
  { alert: 'TonApiUnreachable', title: 'no series of a pod is left', series: leader, at: '3m', firing: 1 },
  { alert: 'TonApiUnreachable', title: 'no pod answers a scrape', series: up(0), at: '3m', firing: 1 },
  {
    alert: 'TonApiUnreachable',
    title: 'pods answer scrapes and probes',
    series: { ...up(1), ...probed(1) },
    at: '3m',
    firing: 0,
  },
  {
    alert: 'TonApiUnreachable',
    title: 'pods answer scrapes, no host answers a probe',
    series: { ...up(1), ...probed(0) },
    at: '3m',
    firing: 1,
  },
  {
    alert: 'TonApiNotReady',
    title: 'no pods are wanted',
    series: { ...leader, [ready]: '0x60', [replicas('desired')]: '0x60' },
    at: '30m',
    firing: 0,
  },
  { alert: 'TonApiNotReady', title: 'for half an hour', series: { ...leader, [ready]: '0x60' }, at: '30m', firing: 1 },
  {
    alert: 'TonApiNotReady',
    title: 'for ten minutes',
    series: { ...leader, [ready]: '1x20 0x40' },
    at: '30m',
    firing: 0,
  },
  {
    alert: 'TonApiNotReady',
    title: 'in the eyes of a former leader only',
    series: { ...leader, [ready]: '1x60', [standby]: '0x60' },
    at: '30m',
    firing: 0,
  },
  {
    alert: 'TonApiRolloutStuck',
    title: 'pods do not come up',
    series: { [progressing('RollingOut')]: '1x60' },
    at: '30m',
    firing: 1,
  },
  {
    alert: 'TonApiRolloutStuck',
    title: 'it waits for its turn',
    series: { [progressing('WaitingForRolloutSlot')]: '1x60' },
    at: '30m',
    firing: 0,
  },
  {
    alert: 'TonApiRolloutStuck',
    title: 'the canary holds',
    series: { [progressing('CanaryHold')]: '1x60' },
    at: '30m',
    firing: 0,
  },
  {
    alert: 'TonApiRolledBack',
    title: 'a canary failed',
    series: { [progressing('RolledBack')]: '1x60' },
    at: '1m',
    firing: 1,
  },
  {
    alert: 'TonApiRolledBack',
    title: 'a rollout went well',
    series: { [progressing('RolledOut')]: '1x60' },
    at: '1m',
    firing: 0,
  },
  {
    alert: 'TonApiIndexerStalled',
    title: 'it stalls',
    series: { 'ton_api_condition_reason{namespace="ns",name="x",type="IndexerLive",reason="Stalled"}': '1x60' },
    at: '20m',
    firing: 1,
  },
  {
    alert: 'TonApiIndexerStalled',
    title: 'it catches up',
    series: { 'ton_api_condition_reason{namespace="ns",name="x",type="IndexerLive",reason="CatchingUp"}': '1x60' },
    at: '20m',
    firing: 0,
  },
  {
    alert: 'TonApiKeyExpiring',
    title: 'in six days',
    series: { 'ton_api_key_expiry_timestamp_seconds{namespace="ns",name="k"}': `${6 * 86_400}x120` },
    at: '90m',
    firing: 1,
  },
  {
    alert: 'TonApiKeyExpiring',
    title: 'in eight days',
    series: { 'ton_api_key_expiry_timestamp_seconds{namespace="ns",name="k"}': `${8 * 86_400}x120` },
    at: '90m',
    firing: 0,
  },
  {
    alert: 'TonApiKeyExpiring',
    title: 'expired long ago',
    series: { 'ton_api_key_expiry_timestamp_seconds{namespace="ns",name="k"}': '60x120' },
    at: '90m',
    firing: 0,
  },
  {
    alert: 'TonApiPausedLong',
    title: 'for two days',
    series: { 'ton_api_condition{namespace="ns",name="x",type="Paused",status="True"}': `1x${3 * day}` },
    at: '2d',
    firing: 1,
  },
  {
    alert: 'TonApiPausedLong',
    title: 'for an hour',
    series: { 'ton_api_condition{namespace="ns",name="x",type="Paused",status="True"}': '1x300' },
    at: '1h',
    firing: 0,
  },
  { alert: 'TonApiLiteServersLow', title: 'one of four', series: usable(1), at: '10m', firing: 1 },
  { alert: 'TonApiLiteServersLow', title: 'two of four', series: usable(2), at: '10m', firing: 0 },
  {
    alert: 'TonApiHeadLagging',
    title: 'the head of one pod is four minutes old: the warning',
    series: heads('0+60x10 600x50'),
    at: '14m',
    firing: 1,
  },
  {
    alert: 'TonApiHeadLagging',
    title: 'the head of one pod is twenty minutes old: the critical alert too',
    series: heads('0+60x10 600x50'),
    at: '30m',
    firing: 2,
  },
  {
    alert: 'TonApiHeadLagging',
    title: 'heads move, and a pod that starts has none',
    series: heads('0x60'),
    at: '30m',
    firing: 0,
  },
  {
    alert: 'TonApiHeadLagging',
    title: 'a head moves again after two minutes',
    series: heads('0+60x10 600 600 780+60x40'),
    at: '14m',
    firing: 0,
  },
  { alert: 'TonApiIndexLagging', title: 'it falls behind', series: lagging('0+10x60'), at: '20m', firing: 1 },
  {
    alert: 'TonApiIndexLagging',
    title: 'a burst of blocks',
    series: lagging('0 0 80 60 20 1x60'),
    at: '6m',
    firing: 0,
  },
  ...replicaStories,
  ...streamStories,
  {
    alert: 'TonApiErrorBudgetBurn',
    title: 'two in a hundred fail: both critical alerts, both warnings',
    series: requests(980, 20, 8 * 60),
    at: '8h',
    firing: 4,
  },
  {
    alert: 'TonApiErrorBudgetBurn',
    title: 'one in 150 fails: the slower critical alert and both warnings',
    series: requests(993, 7, 8 * 60),
    at: '8h',
    firing: 3,
  },
  {
    alert: 'TonApiErrorBudgetBurn',
    title: 'one in 900 fails: the slowest warning',
    series: requests(899, 1, 8 * 60),
    at: '8h',
    firing: 1,
  },
  {
    alert: 'TonApiErrorBudgetBurn',
    title: 'one in 2,000 fails: within the objective',
    series: requests(1999, 1, 8 * 60),
    at: '8h',
    firing: 0,
  },
  {
    alert: 'TonApiErrorBudgetBurn',
    title: 'half of all are refused by their plan: 429 is no error',
    series: requests(1000, 0, 8 * 60, 1000),
    at: '8h',
    firing: 0,
  },
  {
    alert: 'TonApiErrorBudgetBurn',
    title: 'half of next to nothing fails: too little to judge by',
    series: requests(2, 2, 8 * 60),
    at: '8h',
    firing: 0,
  },
  {
    alert: 'TonApiLatencyBudgetBurn',
    title: 'a fifth is slow',
    series: timed(1000, 800, 8 * 60),
    at: '8h',
    firing: 4,
  },
  {
    alert: 'TonApiLatencyBudgetBurn',
    title: 'one in 200 is slow: within the objective',
    series: timed(1000, 995, 8 * 60),
    at: '8h',
    firing: 0,
  },
];

const told = (fires: boolean) =>
  new Set(stories.filter(({ firing }) => firing > 0 === fires).map(({ alert }) => alert));

/** The rules that an alert hangs on: itself, and the recorded series of its own file. */
function groupsOf(alert: string): readonly RuleGroup[] {
  return [operatorRules(), tonApiRules()]
    .filter((groups) => groups.some(({ rules }) => rules.some((rule) => rule.alert === alert)))
    .flatMap((groups) =>
      groups.map(({ name, rules }) => ({
        name,
        rules: rules.filter((rule) => rule.alert === alert || rule.record !== undefined),
      })),
    );
}

describe.skipIf(withoutPrometheus('the rules for Prometheus'))('the rules, in the eyes of promtool,', () => {
  let folder = '';
  const rulesFile = (): string => join(folder, 'rules.yaml');
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tonplane-rules-'));
    writeFileSync(rulesFile(), stringify({ groups: [...operatorRules(), ...tonApiRules()] }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are sound', async () => {
    expect(await promtool('check', 'rules', '--lint-fatal', rulesFile())).toMatch(/SUCCESS: \d+ rules found/);
  });

  it('have a story of every alert that fires, and one of every alert that does not', () => {
    const alerts = new Set(
      [...operatorRules(), ...tonApiRules()].flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? [])),
    );
    expect([told(true), told(false)]).toEqual([alerts, alerts]);
  });

  it.each(spreadOf(stories, 17).map((story, index) => ({ ...story, index })))(
    '$alert: $title',
    async ({ alert, series, at, firing, index }) => {
      const [file, rules] = [join(folder, `story-${index}.yaml`), join(folder, `rules-${index}.yaml`)];
      writeFileSync(rules, stringify({ groups: groupsOf(alert) }));
      const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"})`;
      const exp_samples = firing === 0 ? [] : [{ labels: '{}', value: firing }];
      const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
      const test = { interval: '1m', input_series, promql_expr_test: [{ expr, eval_time: at, exp_samples }] };
      writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: '1m', tests: [test] }));
      await expect(promtool('test', 'rules', file)).resolves.toContain('SUCCESS');
    },
  );
});
