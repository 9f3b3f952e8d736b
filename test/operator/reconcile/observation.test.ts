import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { buildConfigMap } from '#operator/desired/config-map.ts';
import { buildKeyring } from '#operator/desired/keyring.ts';
import { keyringFile } from '#operator/desired/mounts.ts';
import { childNames } from '#operator/desired/names.ts';
import { keySecret } from '#operator/keys/key-secret.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { observe, type ObserveDependencies } from '#operator/reconcile/observation.ts';
import type { TonApi, TonApiKey } from '#operator/resource.ts';
import { makeKey } from '#service/limits/keys.ts';
import { globalConfig, references, release, sample, sampleKey } from '#test/operator/desired/samples.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

const bounds = { signal: new AbortController().signal };
const tonApi = sample('smallest');
const { name: config, key: configKey } = tonApi.spec.liteServerConfigRef!;

type Cluster = {
  /** Text of the referenced ConfigMap. Null: the ConfigMap lacks the key. Undefined: there is no ConfigMap. */
  readonly text?: string | null;
  readonly children?: readonly KubernetesObject[];
  readonly keys?: readonly TonApiKey[];
  /** Secrets by namespace and name. */
  readonly secrets?: Readonly<Record<string, KubernetesObject>>;
  /** Namespaces that the API server refuses. */
  readonly unknown?: readonly string[];
};

/** Observes the TonApi in a cluster with these objects. */
async function observed(of: TonApi, { text, children = [], keys = [], secrets = {}, unknown = [] }: Cluster) {
  const caches = {
    isUnknown: (namespace = unknown[0]) => namespace !== undefined && unknown.includes(namespace),
    children: () => children,
    pods: () => [],
    tonApiKeysOf: () => keys,
    child: (_kind: string, key: string) => secrets[key],
    reference: () => (text === undefined ? undefined : { resourceVersion: '1' }),
  } as unknown as ObserveDependencies['caches'];
  const found = await observe(
    of,
    {
      caches,
      served: () => new Set(),
      texts: { read: async () => text ?? undefined },
      reports: { read: async () => new Map() },
      mounts: { read: async () => ({ problems: [], requeueAfterMs: undefined }) },
      consent: async () => true,
      clock: createVirtualClock(),
    },
    bounds,
  );
  const { problems, missing, isConfigUnfit, references: given, requeueAfterMs } = found;
  return {
    problems: problems.map(({ reason, message }) => `${reason}: ${message}`),
    missing: [...missing],
    isConfigUnfit,
    globalConfig: given.globalConfig,
    keyring: given.keyring.map(({ id }) => id),
    requeueAfterMs,
  };
}

/** The ConfigMap that the pods have, of an earlier reconcile. */
const stored = buildConfigMap(tonApi, references(), release).object;

const quiet = { keyring: [], requeueAfterMs: undefined };

describe('the configuration that a reconcile observes', () => {
  it('a ConfigMap that pods can read is the configuration, without a problem', async () => {
    const fit = { problems: [], missing: [], isConfigUnfit: false, globalConfig, ...quiet };
    expect(await observed(tonApi, { text: globalConfig })).toEqual(fit);
    expect(await observed(tonApi, { text: globalConfig, children: [stored] })).toEqual(fit);
  });

  it('a ConfigMap that is not there is the only problem, and pods that have a configuration get the same again', async () => {
    const notFound = `ConfigMapNotFound: ConfigMap ${config} is not there; make it in namespace ton`;
    expect(await observed(tonApi, {})).toEqual({
      problems: [notFound],
      missing: [`ConfigMap ${config}`, `ConfigMap ${childNames(tonApi).config}`],
      isConfigUnfit: true,
      globalConfig: undefined,
      ...quiet,
    });
    expect(await observed(tonApi, { children: [stored] })).toEqual({
      problems: [notFound],
      missing: [`ConfigMap ${config}`],
      isConfigUnfit: false,
      globalConfig,
      ...quiet,
    });
  });

  it('a ConfigMap without the key names the key', async () => {
    const { problems, isConfigUnfit } = await observed(tonApi, { text: null });
    expect(problems).toEqual([`KeyMissing: ConfigMap ${config} has no key ${configKey}`]);
    expect(isConfigUnfit).toBe(true);
  });

  it('a text that pods would refuse is a problem, and the text that they have stays', async () => {
    const first = await observed(tonApi, { text: '{"liteservers":7}' });
    expect(first.problems).toEqual([expect.stringMatching(/^InvalidReference: .*liteservers/)]);
    expect(first).toMatchObject({ isConfigUnfit: true, missing: [`ConfigMap ${childNames(tonApi).config}`] });
    const later = await observed(tonApi, { text: '{"liteservers":7}', children: [stored] });
    expect(later).toMatchObject({ isConfigUnfit: false, missing: [], globalConfig });
    expect(later.problems).toEqual(first.problems);
  });

  it('a changed ConfigMap of the pods, whose text is not readable any more, has nothing to stay in force', async () => {
    const broken = { ...stored, data: { 'tonapi.yaml': 'changed by hand' } };
    const found = await observed(tonApi, { text: '{"liteservers":7}', children: [broken] });
    expect(found).toMatchObject({ isConfigUnfit: true, missing: [], globalConfig: '{"liteservers":7}' });
  });

  it('a stored value that cannot be read is a problem that names the field, once, also where no pod reads it', async () => {
    const observability = {
      ...sample('full').spec.observability!,
      tracing: undefined,
      sloLatency: '2 seconds',
    } as never;
    const given = sample('smallest', { requestTimeout: '1 minute', observability });
    const { problems, isConfigUnfit } = await observed(given, { text: globalConfig });
    expect(problems).toEqual([
      'InvalidReference: spec.requestTimeout: expected a duration as 10s or 1m30s, got "1 minute"',
      'InvalidReference: spec.observability.sloLatency: expected a duration as 10s or 1m30s, got "2 seconds"',
    ]);
    expect(isConfigUnfit).toBe(true);
  });

  it('a value that no pod reads leaves the configuration fit', async () => {
    const autoscaling = { ...sample('full').spec.autoscaling!, scaleDownStabilization: '10 minutes' };
    const found = await observed(sample('smallest', { autoscaling }), { text: globalConfig });
    expect(found.problems).toEqual([
      'InvalidReference: spec.autoscaling.scaleDownStabilization: expected a duration as 10s or 1m30s, got "10 minutes"',
    ]);
    expect(found.isConfigUnfit).toBe(false);
  });

  it('lite servers in a Secret are not read', async () => {
    const secret = sample('smallest', { liteServerConfigRef: { kind: 'Secret', name: 'private', key: 'list.json' } });
    const found = await observed(secret, { text: globalConfig });
    expect(found).toMatchObject({ problems: [], isConfigUnfit: false, globalConfig: undefined });
  });
});

describe('the keys that a reconcile observes', () => {
  const clock = createVirtualClock();
  const expiresAt = new Date(clock.unixMs() + 60_000).toISOString();
  const tonApiKey = sampleKey({ plan: 'free', expiresAt });
  const { key, id } = makeKey(randomBytes);
  const material = { key, keyId: id, since: expiresAt, plan: 'free', previous: [] };
  const seenWith = (owner: TonApiKey) =>
    observed(tonApi, {
      text: globalConfig,
      keys: [tonApiKey],
      secrets: { 'ton/first-customer': keySecret(owner, material, 'https://api.example.com') },
    });

  it('a key with its Secret is a row, and the reconcile comes again when the key expires', async () => {
    expect(await seenWith(tonApiKey)).toMatchObject({ keyring: [id], requeueAfterMs: 60_000 });
  });

  it('a key whose Secret belongs to another object is no row', async () => {
    const other = { ...tonApiKey, metadata: { ...tonApiKey.metadata, uid: '33333333-3333-4333-8333-333333333333' } };
    expect(await seenWith(other)).toMatchObject({ keyring: [], requeueAfterMs: undefined });
  });

  it('a key without a Secret is no row', async () => {
    expect(await observed(tonApi, { text: globalConfig, keys: [tonApiKey] })).toMatchObject({ keyring: [] });
  });

  it('keep those of a namespace that the API server refuses, and lose those of a readable one', async () => {
    const row = { sha256: 'f'.repeat(64), plan: 'free' } as const;
    const keyring = [
      { ...row, id: 'aaaaaaaaaaaa', owner: 'refused/customer' },
      { ...row, id: 'bbbbbbbbbbbb', owner: 'ton/deleted' },
    ];
    const children = buildKeyring(tonApi, { ...references(), keyring }, release).map(({ object }) => object);
    const found = await observed(tonApi, { text: globalConfig, children, unknown: ['refused'] });
    expect(found.keyring).toEqual(['aaaaaaaaaaaa']);
    const broken = children.map((shard) => ({ ...shard, data: { [keyringFile]: gzipSync('{').toString('base64') } }));
    expect(await observed(tonApi, { text: globalConfig, children: broken, unknown: ['refused'] })).toMatchObject({
      keyring: [],
    });
  });
});
