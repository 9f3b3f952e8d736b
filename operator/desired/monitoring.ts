import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { alertRules, recordingRules } from './alert-rules.ts';
import { hasDatabase } from './indexer.ts';
import { liteServerAddresses } from './network-policy.ts';
import { childNames, instanceLabels } from './names.ts';
import type { DesiredObject, References, Release } from './references.ts';

/** ServiceMonitor and PrometheusRule where they are wanted and the Prometheus operator is there. */
export function buildMonitoring(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  const { observability } = tonApi.spec;
  if (observability === undefined || !references.apis.has('monitoring.coreos.com')) return [];
  return [
    ...(observability.serviceMonitor ? [serviceMonitor(tonApi, release)] : []),
    ...(observability.prometheusRule ? [prometheusRule(tonApi, references, release)] : []),
  ];
}

/** Every pod of the TonApi, with labels that tell its series from those of another. */
function serviceMonitor(tonApi: TonApi, release: Release): DesiredObject {
  return monitoringChild(tonApi, release, 'ServiceMonitor', {
    selector: { matchLabels: instanceLabels(tonApi) },
    endpoints: [
      {
        port: 'metrics',
        interval: '15s',
        honorLabels: false,
        relabelings: [constantLabel('network', tonApi.spec.network), constantLabel('tonapi', tonApi.metadata.name)],
      },
    ],
  });
}

function constantLabel(targetLabel: string, replacement: string): object {
  return { action: 'replace', targetLabel, replacement };
}

function prometheusRule(tonApi: TonApi, { globalConfig }: References, release: Release): DesiredObject {
  const { metadata, spec } = tonApi;
  const facts = {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    network: spec.network,
    availability: spec.observability?.sloAvailability ?? '99.9',
    latency: spec.observability?.sloLatency ?? '1s',
    liteServers: liteServerAddresses(tonApi, globalConfig)?.length,
    indexed: spec.indexer !== undefined && hasDatabase(tonApi, release),
    runbookUrl: release.runbookUrl,
  };
  return monitoringChild(tonApi, release, 'PrometheusRule', {
    groups: [
      { name: `tonapi-${metadata.name}-slo`, interval: '30s', rules: recordingRules(facts) },
      { name: `tonapi-${metadata.name}-alerts`, rules: alertRules(facts) },
    ],
  });
}

function monitoringChild(
  tonApi: TonApi,
  release: Release,
  kind: 'ServiceMonitor' | 'PrometheusRule',
  spec: Readonly<Record<string, unknown>>,
): DesiredObject {
  return child(tonApi, release.version, {
    stage: 'monitoring',
    component: 'monitoring',
    apiVersion: 'monitoring.coreos.com/v1',
    kind,
    name: childNames(tonApi).api,
    body: { spec },
  });
}
