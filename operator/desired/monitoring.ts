import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { publicUrls } from './exposure.ts';
import { alertRules, recordingRules } from './alert-rules.ts';
import { fixedReplicas } from './deployment.ts';
import { hasDatabase } from './indexer.ts';
import { liteServerAddresses } from './network-policy.ts';
import { childNames, instanceLabels } from './names.ts';
import type { DesiredObject, References, Release } from './references.ts';
import { metricsServiceName } from './service.ts';

/** ServiceMonitor, PrometheusRule and Probe where they are wanted, each where the cluster serves its kind. */
export function buildMonitoring(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  const { served } = references;
  const isRuled = tonApi.spec.observability?.prometheusRule === true && served.has('PrometheusRule');
  return [
    ...(isScraped(tonApi, references) ? [serviceMonitor(tonApi, release)] : []),
    ...(isRuled ? [prometheusRule(tonApi, references, release)] : []),
    ...(isProbed(tonApi, references, release) ? [probe(tonApi, release)] : []),
  ];
}

function isScraped({ spec }: TonApi, { served }: Pick<References, 'served'>): boolean {
  return spec.observability?.serviceMonitor === true && served.has('ServiceMonitor');
}

/** Scrapes every pod of the TonApi. Labels separate its series from other TonApis. */
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

function isProbed(tonApi: TonApi, { served }: Pick<References, 'served'>, release: Release): boolean {
  return served.has('Probe') && asksForProbe(tonApi, release);
}

/** A blackbox exporter asks the hosts that callers use: through DNS, TLS and the Ingress or Gateway. Nothing answers in hibernation. */
export function asksForProbe({ spec }: TonApi, { blackboxExporter }: Release): boolean {
  const isExposed = spec.exposure !== undefined && !spec.hibernate;
  return blackboxExporter !== undefined && spec.observability?.serviceMonitor === true && isExposed;
}

/** Documents of the surfaces by their paths, in the order in which a probe chooses. */
const documents = [
  ['v2', '/api/v2/openapi.json'],
  ['v3', '/api/v3/openapi.json'],
  ['emulate', '/api/emulate/v1/openapi.json'],
] as const;

/** Every host is asked for the document of a served API: it needs no key and costs no budget. */
function probe(tonApi: TonApi, release: Release): DesiredObject {
  const { metadata, spec } = tonApi;
  const path = documents.find(([surface]) => spec.surfaces.includes(surface))?.[1] ?? '/';
  return monitoringChild(tonApi, release, 'Probe', {
    prober: { url: release.blackboxExporter?.address },
    module: release.blackboxExporter?.module,
    interval: '30s',
    targets: {
      staticConfig: {
        static: publicUrls(tonApi).map((url) => `${url}${path}`),
        labels: { namespace: metadata.namespace ?? '', network: spec.network, tonapi: metadata.name },
      },
    },
  });
}

function constantLabel(targetLabel: string, replacement: string): object {
  return { action: 'replace', targetLabel, replacement };
}

function hasReplica({ spec: { postgres } }: TonApi): boolean {
  return postgres?.readOnlySecretRef !== undefined || postgres?.parts?.readOnlyHost !== undefined;
}

function prometheusRule(tonApi: TonApi, references: References, release: Release): DesiredObject {
  const { metadata, spec } = tonApi;
  const facts = {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    network: spec.network,
    availability: spec.observability?.sloAvailability ?? '99.9',
    latency: spec.observability?.sloLatency ?? '1s',
    liteServers: liteServerAddresses(tonApi, references.globalConfig)?.length,
    indexed: spec.indexer !== undefined && hasDatabase(tonApi, release),
    replicaMaxLag: hasReplica(tonApi) ? spec.postgres?.replicaMaxLag : undefined,
    streamed: spec.surfaces.includes('stream'),
    runbookUrl: release.runbookUrl,
    severities: release.alertSeverities,
    scraped: isScraped(tonApi, references) && fixedReplicas(tonApi) > 0,
    service: metricsServiceName(tonApi),
    probed: isProbed(tonApi, references, release),
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
  kind: 'ServiceMonitor' | 'PrometheusRule' | 'Probe',
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
