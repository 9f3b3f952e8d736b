import { isIP } from 'node:net';

import type { TonApi } from '../resource.ts';
import { readGlobalConfig } from '../service-config.ts';
import { child } from './child.ts';
import { ports } from './deployment.ts';
import { REDIS_PORT } from './mounts.ts';
import { childNames, instanceLabels, selectorLabels } from './names.ts';
import type { DesiredObject, References, Release } from './references.ts';

type Rule = Readonly<Record<string, unknown>>;
type Address = { readonly host: string; readonly port: number };

/** Usual ports of Redis, its Sentinels and Postgres. Their URLs are secrets that the operator does not read. Other ports need an additional policy. */
const redisPorts = [REDIS_PORT, 6380, 26_379] as const;
const postgresPorts = [5432, 6432] as const;

const anywhere = [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }] as const;

/** Allowed connections from and to the pods; all else is refused (operator/README.md#children). Another policy can only allow more. */
export function buildNetworkPolicies(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  if (!tonApi.spec.networkPolicy) return [];
  const service = policy(tonApi, release, childNames(tonApi).api, {
    podSelector: servicePods(tonApi),
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: [tcp(ports.http)] }, metricsIngress(release)],
    egress: egress(tonApi, references),
  });
  return [
    service,
    ...(tonApi.spec.tokenMetadata === undefined ? [] : [metadataPolicy(tonApi, release)]),
    ...(tonApi.spec.rateLimits.redis.embedded ? [redisPolicy(tonApi, release)] : []),
  ];
}

function policy(tonApi: TonApi, release: Release, name: string, spec: Rule): DesiredObject {
  return child(tonApi, release.version, {
    stage: 'config',
    component: 'config',
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    name,
    body: { spec },
  });
}

/** Pods in roles that answer callers or read lite servers. Other roles have rules of their own. */
function servicePods(tonApi: TonApi): Rule {
  const values = ['api', 'api-canary', 'indexer', 'migration'];
  return {
    matchLabels: instanceLabels(tonApi),
    matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values }],
  };
}

/** The internal listener: for monitoring and for the operator, or for the whole cluster where no namespace was named. */
function metricsIngress({ monitoringNamespace, operatorNamespace }: Release): Rule {
  const namespaces = [...new Set([monitoringNamespace, operatorNamespace])].filter((name) => name !== undefined);
  const from = monitoringNamespace === undefined ? [{ namespaceSelector: {} }] : namespaces.map(namespaceNamed);
  return { from, ports: [tcp(ports.internal)] };
}

function egress(tonApi: TonApi, references: References): Rule[] {
  const { rateLimits } = tonApi.spec;
  return [
    ...everyPodsEgress(tonApi),
    rateLimits.redis.embedded
      ? { to: [{ podSelector: { matchLabels: selectorLabels(tonApi, 'redis') } }], ports: [tcp(REDIS_PORT)] }
      : { ports: redisPorts.map(tcp) },
    ...liteServerEgress(liteServerAddresses(tonApi, references.globalConfig)),
  ];
}

/** The port that the manifest names, and the usual ones where a Secret has a port: that of the database or of its replica. */
function portsOf({ parts, readOnlySecretRef }: NonNullable<TonApi['spec']['postgres']>): readonly number[] {
  const named = parts?.port?.value;
  if (named === undefined) return postgresPorts;
  return [...new Set([Number(named), ...(readOnlySecretRef === undefined ? [] : postgresPorts)])];
}

/** DNS, the database, and the receiver of traces. */
function everyPodsEgress({ spec }: TonApi): Rule[] {
  const endpoint = spec.observability?.tracing?.endpoint;
  return [
    { ports: [{ port: 53, protocol: 'UDP' }, tcp(53)] },
    ...(spec.postgres === undefined ? [] : [{ ports: portsOf(spec.postgres).map(tcp) }]),
    ...(endpoint === undefined ? [] : [{ ports: [tcp(portOf(endpoint))] }]),
  ];
}

/**
 * The internet on the ports of the web, without private ranges. Pods check each address themselves; this policy is the second barrier.
 * IPv6 hosts outside global unicast, such as behind a NAT64, need an additional policy.
 */
const internet = [
  {
    ipBlock: {
      cidr: '0.0.0.0/0',
      except: [
        '0.0.0.0/8',
        '10.0.0.0/8',
        '100.64.0.0/10',
        '127.0.0.0/8',
        '168.63.129.16/32',
        '169.254.0.0/16',
        '172.16.0.0/12',
        '192.0.0.0/24',
        '192.168.0.0/16',
        '198.18.0.0/15',
        '224.0.0.0/3',
      ],
    },
  },
  { ipBlock: { cidr: '2000::/3', except: ['2001::/23', '2001:db8::/32', '2002::/16'] } },
] as const;

/** Policy of the pods that fetch token metadata. Only they reach arbitrary hosts, and they reach neither Redis nor lite servers. */
function metadataPolicy(tonApi: TonApi, release: Release): DesiredObject {
  const gateway = tonApi.spec.tokenMetadata?.ipfsGateway;
  const web = new Set([80, 443, ...(gateway === undefined ? [] : [portOf(gateway)])]);
  return policy(tonApi, release, childNames(tonApi).metadata, {
    podSelector: { matchLabels: selectorLabels(tonApi, 'metadata') },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [metricsIngress(release)],
    egress: [...everyPodsEgress(tonApi), { to: internet, ports: [...web].map(tcp) }],
  });
}

/** A rule for each port, with the addresses that have it; a host name may be any address. Sorted, so that the order in the list does not matter. */
function liteServerEgress(addresses: readonly Address[] | undefined): Rule[] {
  // Lite servers of a Secret are unknown here, so this rule allows all addresses.
  if (addresses === undefined) return [{ to: anywhere }];
  const byPort = Map.groupBy(
    addresses.toSorted((a, b) => a.port - b.port || (a.host < b.host ? -1 : 1)),
    ({ port }) => port,
  );
  return [...byPort].map(([port, group]) => ({
    to: group.every(({ host }) => isIP(host) !== 0) ? [...new Set(group.map(blockOf))].map(asBlock) : anywhere,
    ports: [tcp(port)],
  }));
}

/** Lite servers of the manifest or of its ConfigMap; undefined when only the pods read them. */
export function liteServerAddresses(
  { spec }: TonApi,
  globalConfig: string | undefined,
): readonly Address[] | undefined {
  if (spec.liteServers !== undefined) {
    return spec.liteServers.map(({ address }) => {
      const colon = address.lastIndexOf(':');
      const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
      return { host, port: Number(address.slice(colon + 1)) };
    });
  }
  return globalConfig === undefined ? undefined : readGlobalConfig(globalConfig, [])?.liteServers;
}

/** Reached by the pods, and by the operator, which puts revoked keys into it. */
function redisPolicy(tonApi: TonApi, release: Release): DesiredObject {
  const { operatorNamespace } = release;
  const from = [
    { podSelector: servicePods(tonApi) },
    ...(operatorNamespace === undefined ? [] : [namespaceNamed(operatorNamespace)]),
  ];
  return policy(tonApi, release, childNames(tonApi).redis, {
    podSelector: { matchLabels: selectorLabels(tonApi, 'redis') },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from, ports: [tcp(REDIS_PORT)] }],
  });
}

function namespaceNamed(name: string): Rule {
  return { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } };
}

function blockOf({ host }: Address): string {
  return `${host}/${isIP(host) === 4 ? 32 : 128}`;
}

function asBlock(cidr: string): Rule {
  return { ipBlock: { cidr } };
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function tcp(port: number): { port: number; protocol: string } {
  return { port, protocol: 'TCP' };
}
