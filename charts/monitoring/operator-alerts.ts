import type { AlertParts } from '#operator/desired/alert-rules.ts';

/** Alerts on the operator itself, and on states of TonApis that its metrics report. */
export const operatorAlerts: Readonly<Record<string, readonly AlertParts[]>> = {
  'tonplane-operator': [
    {
      alert: 'TonOperatorDown',
      expr: 'absent(leader_election_master_status == 1)',
      for: '5m',
      severity: 'critical',
      summary: 'No operator leads. TonApis serve as they are, and no change is made.',
    },
    {
      alert: 'TonOperatorReconcileErrors',
      expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total{controller=~"tonapi|tonapikey"}[15m]))
  / sum by (controller) (rate(controller_runtime_reconcile_total{controller=~"tonapi|tonapikey"}[15m])) > 0.1`,
      for: '15m',
      severity: 'warning',
      summary: '{{ $value | humanizePercentage }} of the reconciles of {{ $labels.controller }} fail.',
    },
    {
      alert: 'TonOperatorQueueStuck',
      expr: `max by (controller) (workqueue_longest_running_processor_seconds{controller=~"tonapi|tonapikey"}) > 120
  or sum by (controller) (workqueue_depth{controller=~"tonapi|tonapikey"} and on (instance) leader_election_master_status == 1) > 100`,
      for: '10m',
      severity: 'warning',
      summary: 'Resources of {{ $labels.controller }} wait too long for the operator.',
    },
    {
      alert: 'TonOperatorCacheStale',
      expr: 'max by (resource) (ton_operator_cache_age_seconds) > 300',
      for: '5m',
      severity: 'critical',
      summary: 'An operator has received no event of {{ $labels.resource }} for {{ $value | humanizeDuration }}.',
    },
    {
      alert: 'TonOperatorWatchForbidden',
      expr: 'max by (resource, namespace) (ton_operator_watch_forbidden) == 1',
      for: '5m',
      severity: 'critical',
      summary:
        'The API server refuses to list {{ $labels.resource }} {{ with $labels.namespace }}of namespace {{ . }} {{ end }}for an operator.',
    },
    {
      alert: 'TonOperatorFieldFight',
      expr: 'sum by (kind, manager) (increase(ton_operator_drift_corrections_total[10m])) > 5',
      for: '10m',
      severity: 'warning',
      summary: '{{ $labels.manager }} and the operator write the same fields of a {{ $labels.kind }} again and again.',
    },
    {
      alert: 'TonOperatorWritesInSteadyState',
      // A change of a TonApi is a reason to write. Writes without a change for an hour are a loop.
      expr: `sum(rate(ton_operator_writes_total[1h])) > 0.1
  unless sum(increase(ton_operator_apply_to_ready_seconds_count[1h])) > 0`,
      for: '1h',
      severity: 'info',
      summary: 'The operator writes {{ $value | humanize }} times a second, and no TonApi changes.',
    },
    {
      alert: 'TonOperatorEventLoopLag',
      expr: 'max by (instance) (nodejs_eventloop_lag_p99_seconds and on (instance) leader_election_master_status) > 1',
      for: '10m',
      severity: 'warning',
      summary:
        'The operator {{ $labels.instance }} stops for {{ $value | humanizeDuration }} at a time and may lose its lease.',
    },
  ],
  'tonplane-tonapis': [
    {
      alert: 'TonApiDown',
      // A TonApi with `replicas: 0` has no pod on purpose.
      expr: `max by (namespace, name) (ton_api_replicas{state="ready"} and on (instance) leader_election_master_status == 1) == 0
  and on (namespace, name)
max by (namespace, name) (ton_api_replicas{state="desired"} and on (instance) leader_election_master_status == 1) > 0`,
      for: '1m',
      severity: 'critical',
      summary: 'TonApi {{ $labels.namespace }}/{{ $labels.name }} has no ready pod. Every request fails.',
    },
    {
      alert: 'TonApiNotReady',
      expr: `max by (namespace, name) (ton_api_condition{type="Ready",status="True"} and on (instance) leader_election_master_status == 1) == 0
  unless on (namespace, name)
max by (namespace, name) (ton_api_replicas{state="desired"} and on (instance) leader_election_master_status == 1) == 0`,
      for: '15m',
      severity: 'warning',
      summary: 'TonApi {{ $labels.namespace }}/{{ $labels.name }} is not Ready.',
    },
    {
      alert: 'TonApiRolloutStuck',
      // A rollout that waits for its turn, or at a step of a canary, has another reason.
      expr: 'max by (namespace, name) (ton_api_condition_reason{type="Progressing",reason=~"RollingOut|ProgressDeadlineExceeded"}) == 1',
      for: '15m',
      severity: 'warning',
      summary: 'The rollout of TonApi {{ $labels.namespace }}/{{ $labels.name }} makes no progress.',
    },
    {
      alert: 'TonApiRolledBack',
      expr: 'max by (namespace, name) (ton_api_condition_reason{type="Progressing",reason="RolledBack"}) == 1',
      severity: 'warning',
      summary:
        'The canary of TonApi {{ $labels.namespace }}/{{ $labels.name }} failed too many requests and was removed.',
    },
    {
      alert: 'TonApiIndexerStalled',
      expr: 'max by (namespace, name) (ton_api_condition_reason{type="IndexerLive",reason="Stalled"}) == 1',
      for: '10m',
      severity: 'critical',
      summary: 'The index of TonApi {{ $labels.namespace }}/{{ $labels.name }} does not follow the chain.',
    },
    {
      alert: 'TonApiKeyExpiring',
      // The alert ends when the key has expired.
      expr: '(min by (namespace, name) (ton_api_key_expiry_timestamp_seconds) - time() > 0) < 7 * 86400',
      for: '1h',
      severity: 'info',
      summary: 'The key {{ $labels.namespace }}/{{ $labels.name }} expires in {{ $value | humanizeDuration }}.',
    },
    {
      alert: 'TonApiPausedLong',
      expr: 'max by (namespace, name) (ton_api_condition{type="Paused",status="True"}) == 1',
      for: '24h',
      severity: 'info',
      summary: 'TonApi {{ $labels.namespace }}/{{ $labels.name }} is paused for a day.',
    },
  ],
};
