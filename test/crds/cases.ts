import { firstOf, key, specOf } from '#test/service/config/manifest-builder.ts';

import { connectionCases } from './connection-cases.ts';
import { podTemplateCases } from './pod-template-cases.ts';
import { urlCases } from './url-cases.ts';

type Fields = Record<string, unknown>;

/** Changes the smallest valid spec, or the whole object. */
export type Change = (spec: Fields, object: Fields) => void;

/** One rule of a custom resource, with what it accepts and what it refuses. */
export type RuleCase = {
  /** The rule's message, which names it. */
  readonly message: string;
  /** Where the refusal points. */
  readonly field: string;
  readonly accepted: Change;
  readonly refused: Change;
  /** For rules about a change: what is there before. */
  readonly before?: Change;
};

/** A TonApi with what must be given, changed. */
export function tonApi(...changes: readonly Change[]): Fields {
  return changed('TonApi', specOf(), changes);
}

/** A TonApiKey with what must be given, changed. */
export function tonApiKey(...changes: readonly Change[]): Fields {
  return changed('TonApiKey', { apiRef: { name: 'test' }, plan: 'free' }, changes);
}

function changed(kind: string, spec: Fields, changes: readonly Change[]): Fields {
  const object: Fields = { apiVersion: 'tonplane.dev/v1alpha1', kind, metadata: { name: 'test' }, spec };
  for (const change of changes) change(spec, object);
  return object;
}

const set =
  (fields: Fields): Change =>
  (spec) =>
    void Object.assign(spec, fields);
const unset =
  (...names: readonly string[]): Change =>
  (spec) =>
    names.forEach((name) => delete spec[name]);
const named =
  (text: string): Change =>
  (_, object) =>
    void (object['metadata'] = { name: text });
const name = (length: number): Change => named('n'.repeat(length));
const plan =
  (fields: Fields): Change =>
  (spec) =>
    void Object.assign(firstOf(spec, 'plans'), fields);
const liteServer =
  (fields: Fields): Change =>
  (spec) =>
    void Object.assign(firstOf(spec, 'liteServers'), fields);
const all =
  (...changes: readonly Change[]): Change =>
  (spec, object) =>
    changes.forEach((change) => change(spec, object));
const nothing: Change = () => undefined;

const postgres = { secretRef: { name: 'database' } };
const indexer = (fields: Fields): Change => set({ postgres, indexer: fields });
const tokenMetadata = (fields: Fields): Change => set({ postgres, tokenMetadata: fields });
const autoscaling = (fields: Fields): Change => set({ autoscaling: { maxReplicas: 5, ...fields } });
const exposure = (fields: Fields): Change => set({ exposure: { hosts: ['ton.example.com'], ...fields } });
const parents = (of: readonly object[]): Change =>
  exposure({ kind: 'HTTPRoute', parentRefs: of.map((part) => ({ name: 'public', ...part })) });
const service = (fields: Fields): Change => set({ service: fields });
const rollout = (fields: Fields): Change => set({ rollout: fields });
const steps = [{ weight: 10, hold: '5m' }];

/** Every rule of TonApi. */
export const tonApiCases: readonly RuleCase[] = [
  {
    message: 'metadata.name must be at most 40 characters: child names are derived from it',
    field: '<nil>',
    accepted: name(40),
    refused: name(41),
  },
  ...['main.net', '1net'].map((given) => ({
    message:
      'metadata.name must begin with a letter and have only lower-case letters, digits and hyphens: Services are named after it',
    field: '<nil>',
    accepted: named('main-net1'),
    refused: named(given),
  })),
  {
    message: 'set exactly one of liteServers, liteServerConfigRef',
    field: 'spec',
    accepted: all(unset('liteServers'), set({ liteServerConfigRef: { name: 'global-config' } })),
    refused: set({ liteServerConfigRef: { name: 'global-config' } }),
  },
  {
    message: 'set exactly one of liteServers, liteServerConfigRef',
    field: 'spec',
    accepted: nothing,
    refused: unset('liteServers'),
  },
  {
    message: 'initBlock needs zeroState',
    field: 'spec',
    accepted: set({ initBlock: { seqno: 1, rootHash: key, fileHash: key } }),
    refused: all(unset('zeroState'), set({ initBlock: { seqno: 1, rootHash: key, fileHash: key } })),
  },
  {
    message: 'anonymousPlan must name a plan',
    field: 'spec.anonymousPlan',
    accepted: set({ anonymousPlan: 'free' }),
    refused: set({ anonymousPlan: 'gold' }),
  },
  {
    message: 'requestTimeout must be 100ms to 5m',
    field: 'spec.requestTimeout',
    accepted: set({ requestTimeout: '100ms' }),
    refused: set({ requestTimeout: '99ms' }),
  },
  {
    message: 'requestTimeout must be 100ms to 5m',
    field: 'spec.requestTimeout',
    accepted: set({ requestTimeout: '5m' }),
    refused: set({ requestTimeout: '5m1s' }),
  },
  { message: 'indexer needs postgres', field: 'spec', accepted: indexer({}), refused: set({ indexer: {} }) },
  {
    message: 'tokenMetadata needs postgres',
    field: 'spec',
    accepted: tokenMetadata({}),
    refused: set({ tokenMetadata: {} }),
  },
  {
    message: 'surface v3 needs postgres',
    field: 'spec',
    accepted: set({ surfaces: ['v2', 'v3'], postgres }),
    refused: set({ surfaces: ['v2', 'v3'] }),
  },
  {
    message: 'surface stream needs surface v3',
    field: 'spec',
    accepted: set({ surfaces: ['v3', 'stream'], postgres }),
    refused: set({ surfaces: ['v2', 'stream'], postgres }),
  },
  {
    message: 'targetStreamConnections needs surface stream',
    field: 'spec.autoscaling.targetStreamConnections',
    accepted: all(set({ surfaces: ['v3', 'stream'], postgres }), autoscaling({ targetStreamConnections: 5000 })),
    refused: autoscaling({ targetStreamConnections: 5000 }),
  },
  {
    message: 'surface explorer needs surface v3',
    field: 'spec',
    accepted: set({ surfaces: ['v3', 'explorer'], postgres }),
    refused: set({ surfaces: ['v2', 'explorer'], postgres }),
  },
  {
    message: 'postgres cannot be removed; delete the TonApi instead',
    field: 'spec',
    before: set({ postgres }),
    accepted: set({ postgres: { ...postgres, poolSize: 20 } }),
    refused: unset('postgres'),
  },
  {
    message: 'replicaMaxLag must be 1s to 1h',
    field: 'spec.postgres.replicaMaxLag',
    accepted: set({ postgres: { ...postgres, replicaMaxLag: '1h' } }),
    refused: set({ postgres: { ...postgres, replicaMaxLag: '1h1s' } }),
  },
  {
    message: 'replicaMaxLag must be 1s to 1h',
    field: 'spec.postgres.replicaMaxLag',
    accepted: set({ postgres: { ...postgres, replicaMaxLag: '1s' } }),
    refused: set({ postgres: { ...postgres, replicaMaxLag: '999ms' } }),
  },
  {
    message: 'short must be 1m to 30m',
    field: 'spec.streaming.replay.short',
    accepted: set({ streaming: { replay: { short: '1m' } } }),
    refused: set({ streaming: { replay: { short: '59s' } } }),
  },
  {
    message: 'short must be 1m to 30m',
    field: 'spec.streaming.replay.short',
    accepted: set({ streaming: { replay: { short: '30m' } } }),
    refused: set({ streaming: { replay: { short: '30m1s' } } }),
  },
  {
    message: 'final must be 1h to 168h',
    field: 'spec.streaming.replay.final',
    accepted: set({ streaming: { replay: { final: '1h' } } }),
    refused: set({ streaming: { replay: { final: '59m' } } }),
  },
  {
    message: 'final must be 1h to 168h',
    field: 'spec.streaming.replay.final',
    accepted: set({ streaming: { replay: { final: '168h' } } }),
    refused: set({ streaming: { replay: { final: '168h1s' } } }),
  },
  {
    message: 'a plan with archive needs an archive lite server',
    field: 'spec',
    accepted: all(plan({ archive: true }), liteServer({ role: 'archive' })),
    refused: plan({ archive: true }),
  },
  {
    message: 'a plan with archive needs an archive lite server',
    field: 'spec',
    accepted: all(plan({ archive: true }), unset('liteServers'), set({ liteServerConfigRef: { name: 'any' } })),
    refused: all(plan({ archive: true }), liteServer({ role: 'latest' })),
  },
  {
    message: "a plan's liteServerTiers must be tiers of lite servers; those of a global config are shared",
    field: 'spec',
    accepted: all(plan({ liteServerTiers: ['private'] }), liteServer({ tier: 'private' })),
    refused: plan({ liteServerTiers: ['private'] }),
  },
  {
    message: "a plan's liteServerTiers must be tiers of lite servers; those of a global config are shared",
    field: 'spec',
    accepted: all(
      plan({ liteServerTiers: ['shared'] }),
      unset('liteServers'),
      set({ liteServerConfigRef: { name: 'any' } }),
    ),
    refused: all(
      plan({ liteServerTiers: ['private'] }),
      unset('liteServers'),
      set({ liteServerConfigRef: { name: 'any' } }),
    ),
  },
  {
    message: 'network is immutable',
    field: 'spec.network',
    before: nothing,
    accepted: set({ network: 'testnet', replicas: 3 }),
    refused: set({ network: 'mainnet' }),
  },
  {
    message: 'port must be 1-65535',
    field: 'spec.liteServers[0].address',
    accepted: liteServer({ address: '[2001:db8::1]:65535' }),
    refused: liteServer({ address: '[2001:db8::1]:65536' }),
  },
  {
    message: 'port must be 1-65535',
    field: 'spec.liteServers[0].address',
    accepted: liteServer({ address: 'lite.example.com:1' }),
    refused: liteServer({ address: 'lite.example.com:0' }),
  },
  {
    message: 'burst must be at least requestsPerSecond',
    field: 'spec.plans[0].burst',
    accepted: plan({ requestsPerSecond: 5, burst: 5 }),
    refused: plan({ requestsPerSecond: 5, burst: 4 }),
  },
  {
    message: 'caBundle needs an https endpoint',
    field: 'spec.observability.tracing.endpoint',
    accepted: set({
      observability: { tracing: { endpoint: 'https://c:4318', caBundle: { secretRef: { name: 'ca' } } } },
    }),
    refused: set({
      observability: { tracing: { endpoint: 'http://c:4318', caBundle: { secretRef: { name: 'ca' } } } },
    }),
  },
  ...[{}, { secretRef: { name: 'ca' }, configMapRef: { name: 'ca' } }].map((caBundle) => ({
    message: 'set exactly one of secretRef, configMapRef',
    field: 'spec.observability.tracing.caBundle',
    accepted: set({
      observability: { tracing: { endpoint: 'https://c:4318', caBundle: { secretRef: { name: 'ca' } } } },
    }),
    refused: set({ observability: { tracing: { endpoint: 'https://c:4318', caBundle } } }),
  })),
  {
    message: 'partitions needs mode Partitioned',
    field: 'spec.indexer.partitions',
    accepted: indexer({ mode: 'Partitioned', partitions: 4 }),
    refused: indexer({ mode: 'SingleWriter', partitions: 4 }),
  },
  {
    message: 'partitions can only grow',
    field: 'spec.indexer.partitions',
    before: indexer({ mode: 'Partitioned', partitions: 4 }),
    accepted: indexer({ mode: 'Partitioned', partitions: 5 }),
    refused: indexer({ mode: 'Partitioned', partitions: 3 }),
  },
  ...[
    { before: { startSeqno: 5 }, refused: { startSeqno: 6 } },
    { before: {}, refused: { startSeqno: 5 } },
    { before: { startSeqno: 5 }, refused: {} },
  ].map(({ before, refused }) => ({
    message: 'startSeqno is immutable',
    field: 'spec.indexer',
    before: indexer(before),
    accepted: indexer({ ...before, resources: { requests: { cpu: '1' } } }),
    refused: indexer(refused),
  })),
  ...[{}, { secretRef: { name: 'ca' }, configMapRef: { name: 'ca' } }].map((caBundle) => ({
    message: 'set exactly one of secretRef, configMapRef',
    field: 'spec.tokenMetadata.caBundle',
    accepted: tokenMetadata({ caBundle: { secretRef: { name: 'ca' } } }),
    refused: tokenMetadata({ caBundle }),
  })),
  {
    message: 'concurrencyPerHost must be at most concurrency',
    field: 'spec.tokenMetadata.concurrencyPerHost',
    accepted: tokenMetadata({ concurrency: 2, concurrencyPerHost: 2 }),
    refused: tokenMetadata({ concurrency: 2, concurrencyPerHost: 3 }),
  },
  {
    message: 'minReplicas must not exceed maxReplicas',
    field: 'spec.autoscaling.minReplicas',
    accepted: autoscaling({ minReplicas: 5, targetCPUUtilization: 70 }),
    refused: autoscaling({ minReplicas: 6, targetCPUUtilization: 70 }),
  },
  {
    message: 'set a target: targetCPUUtilization, targetRequestsPerSecond or targetStreamConnections',
    field: 'spec.autoscaling',
    accepted: autoscaling({ targetRequestsPerSecond: 100 }),
    refused: autoscaling({}),
  },
  {
    message: 'parentRefs is for HTTPRoute, and needed there',
    field: 'spec.exposure',
    accepted: exposure({ kind: 'HTTPRoute', parentRefs: [{ name: 'public' }] }),
    refused: exposure({ kind: 'HTTPRoute' }),
  },
  {
    message: 'parentRefs is for HTTPRoute, and needed there',
    field: 'spec.exposure',
    accepted: exposure({ kind: 'Ingress' }),
    refused: exposure({ kind: 'Ingress', parentRefs: [{ name: 'public' }] }),
  },
  ...[
    [{}, {}],
    [{ sectionName: 'a' }, {}],
    [{ sectionName: 'a' }, { sectionName: 'a' }],
  ].map((parts) => {
    return {
      message: 'each of several parentRefs to one Gateway needs a sectionName of its own',
      field: 'spec.exposure.parentRefs',
      accepted: parents([{ sectionName: 'a' }, { sectionName: 'b' }, { namespace: 'other' }]),
      refused: parents(parts),
    };
  }),
  ...podTemplateCases,
  {
    message: 'loadBalancerClass and loadBalancerSourceRanges need type LoadBalancer',
    field: 'spec.service',
    accepted: service({ type: 'LoadBalancer', loadBalancerClass: 'service.k8s.aws/nlb' }),
    refused: service({ type: 'NodePort', loadBalancerClass: 'service.k8s.aws/nlb' }),
  },
  {
    message: 'loadBalancerClass and loadBalancerSourceRanges need type LoadBalancer',
    field: 'spec.service',
    accepted: service({ type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24'] }),
    refused: service({ loadBalancerSourceRanges: ['192.0.2.0/24'] }),
  },
  {
    message: 'externalTrafficPolicy needs type LoadBalancer or NodePort',
    field: 'spec.service',
    accepted: service({ type: 'NodePort', externalTrafficPolicy: 'Local' }),
    refused: service({ sessionAffinity: 'ClientIP', externalTrafficPolicy: 'Local' }),
  },
  {
    message: 'loadBalancerClass cannot change while type is LoadBalancer',
    field: 'spec.service',
    before: service({ type: 'LoadBalancer', loadBalancerClass: 'a' }),
    accepted: service({ type: 'LoadBalancer', loadBalancerClass: 'a', sessionAffinity: 'ClientIP' }),
    refused: service({ type: 'LoadBalancer', loadBalancerClass: 'b' }),
  },
  {
    message: 'loadBalancerClass cannot change while type is LoadBalancer',
    field: 'spec.service',
    before: service({ type: 'LoadBalancer' }),
    accepted: service({ type: 'ClusterIP' }),
    refused: service({ type: 'LoadBalancer', loadBalancerClass: 'b' }),
  },
  {
    message: 'maxSurge 0 needs a maxUnavailable above 0',
    field: 'spec.rollout',
    accepted: rollout({ maxSurge: 0, maxUnavailable: 1 }),
    refused: rollout({ maxSurge: 0 }),
  },
  {
    message: 'maxSurge 0 needs a maxUnavailable above 0',
    field: 'spec.rollout',
    accepted: rollout({ maxSurge: '0%', maxUnavailable: '10%' }),
    refused: rollout({ maxSurge: '0%', maxUnavailable: '0%' }),
  },
  {
    message: 'steps go with strategy Canary',
    field: 'spec.rollout.strategy',
    accepted: set({ rollout: { strategy: 'Canary', steps } }),
    refused: set({ rollout: { strategy: 'Canary', steps: [] } }),
  },
  {
    message: 'steps go with strategy Canary',
    field: 'spec.rollout.strategy',
    accepted: set({ rollout: { strategy: 'Rolling' } }),
    refused: set({ rollout: { strategy: 'Rolling', steps } }),
  },
  {
    message: 'selector goes with allowedNamespaces Selector',
    field: 'spec.keys.allowedNamespaces',
    accepted: set({ keys: { allowedNamespaces: 'Selector', selector: { matchLabels: { keys: 'yes' } } } }),
    refused: set({ keys: { allowedNamespaces: 'Selector' } }),
  },
  {
    message: 'selector goes with allowedNamespaces Selector',
    field: 'spec.keys.allowedNamespaces',
    accepted: set({ keys: { allowedNamespaces: 'All' } }),
    refused: set({ keys: { allowedNamespaces: 'All', selector: {} } }),
  },
  ...urlCases,
  ...connectionCases,
];

/** Every rule of TonApiKey. */
export const tonApiKeyCases: readonly RuleCase[] = [
  {
    message: 'metadata.name must be at most 40 characters: child names are derived from it',
    field: '<nil>',
    accepted: name(40),
    refused: name(41),
  },
  {
    message: 'metadata.name must not end in -keyring-NUMBER without secretName: the operator names its own Secrets so',
    field: '<nil>',
    accepted: all(named('bb-keyring-0'), set({ secretName: 'free' })),
    refused: named('bb-keyring-0'),
  },
  {
    message: 'secretName must not end in -keyring-NUMBER: the operator names its own Secrets so',
    field: 'spec.secretName',
    accepted: set({ secretName: 'bb-keyring-a' }),
    refused: set({ secretName: 'bb-keyring-12' }),
  },
  ...[
    { before: { secretName: 'one' }, refused: set({ secretName: 'two' }) },
    { before: {}, refused: set({ secretName: 'one' }) },
    { before: { secretName: 'one' }, refused: unset('secretName') },
  ].map(({ before, refused }) => ({
    message: 'secretName is immutable',
    field: 'spec',
    before: set(before),
    accepted: set({ ...before, disabled: true }),
    refused,
  })),
  {
    message: 'apiRef is immutable',
    field: 'spec.apiRef',
    before: nothing,
    accepted: set({ plan: 'pro' }),
    refused: set({ apiRef: { name: 'other' } }),
  },
  {
    message: 'rotation.every must be at least 1h',
    field: 'spec.rotation.every',
    accepted: set({ rotation: { every: '1h', overlap: '30m' } }),
    refused: set({ rotation: { every: '59m', overlap: '30m' } }),
  },
  {
    message: 'overlap must be shorter than every',
    field: 'spec.rotation.overlap',
    accepted: set({ rotation: { every: '48h' } }),
    refused: set({ rotation: { every: '24h' } }),
  },
  {
    message: 'must be a CIDR',
    field: 'spec.allowedSources[1]',
    accepted: set({ allowedSources: ['10.0.0.0/8', '2001:db8::/32'] }),
    refused: set({ allowedSources: ['10.0.0.0/8', '10.0.0.1'] }),
  },
];
