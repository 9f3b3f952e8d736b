import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { configText } from '#operator/desired/config-map.ts';
import { coldHash } from '#operator/desired/deployment.ts';
import type { TonApi } from '#operator/resource.ts';
import { configFromManifest } from '#service/config.ts';
import { refusedAddress } from '#service/metadata/public-address.ts';

import { references, release, sample } from './samples.ts';

type TokenMetadata = NonNullable<TonApi['spec']['tokenMetadata']>;
type Blocks = readonly { readonly cidr: string; readonly except: readonly string[] }[];

const postgres = { secretRef: { name: 'p', key: 'uri' }, schema: 'ton', poolSize: 10, replicaMaxLag: '30s' };
const wanted: TokenMetadata = { replicas: 1, concurrency: 16, concurrencyPerHost: 4 };

const tonApi = (tokenMetadata: TokenMetadata | undefined): TonApi =>
  sample('smallest', { postgres, ...(tokenMetadata && { tokenMetadata }) });

function objects(tokenMetadata: TokenMetadata | undefined, schemaVersion: number | undefined = 2) {
  return build(tonApi(tokenMetadata), references(), { ...release, schemaVersion }).map(({ object }) => object);
}

const named = (tokenMetadata?: TokenMetadata, schemaVersion?: number): string[] =>
  objects(tokenMetadata, schemaVersion)
    .filter(({ metadata }) => metadata.name.endsWith('-metadata'))
    .map(({ kind }) => kind);

const find = (kind: string, tokenMetadata = wanted) =>
  objects(tokenMetadata).find((object) => object.kind === kind && object.metadata.name.endsWith('-metadata'));

const apiHash = (tokenMetadata?: TokenMetadata): string => coldHash(tonApi(tokenMetadata), references());

/** Of the pods' template. */
function annotationsOf(tokenMetadata: TokenMetadata): object | undefined {
  const template = find('Deployment', tokenMetadata)?.spec?.['template'] as
    | { metadata: { annotations: object } }
    | undefined;
  return template?.metadata.annotations;
}

const strategyOf = (rollout?: TonApi['spec']['rollout']) =>
  build(sample('smallest', { postgres, tokenMetadata: wanted, ...(rollout && { rollout }) }), references(), {
    ...release,
    schemaVersion: 2,
  }).find(({ object }) => object.kind === 'Deployment' && object.metadata.name.endsWith('-metadata'))?.object.spec?.[
    'strategy'
  ];

describe('the pods that fetch metadata', () => {
  it('are there where they are wanted, with a policy of their own and a Service for monitoring', () => {
    expect(named(wanted)).toEqual(['NetworkPolicy', 'Deployment', 'Service']);
    expect(named()).toEqual([]);
  });

  it('are restricted, know the database and the configuration, and neither keys nor Redis', () => {
    const { spec } = find('Deployment') ?? {};
    expect(spec).toMatchObject({ replicas: 1 });
    const text = JSON.stringify(spec);
    expect(text).toContain('"args":["metadata","--internal-port","8082"');
    expect(text).toContain('/etc/tonplane/postgres/uri');
    expect(text).toContain('"readOnlyRootFilesystem":true');
    expect(text).toContain('"automountServiceAccountToken":false');
    expect(text).not.toMatch(/keyring|redis/);
  });

  it('are replaced as rollout says, by default with the new pod first', () => {
    expect(strategyOf()).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '25%' } });
    const narrow = { strategy: 'Rolling', drainSeconds: 20, maxSurge: 0, maxUnavailable: 1 } as const;
    expect(strategyOf(narrow)).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
  });

  it('take their number and their resources from the manifest, and start anew when it tells them something else', () => {
    const more = { ...wanted, replicas: 3, resources: { requests: { memory: '1Gi' } } };
    expect(find('Deployment', more)?.spec).toMatchObject({ replicas: 3 });
    expect(JSON.stringify(find('Deployment', more))).toContain('"limits":{"memory":"1Gi"}');
    expect(annotationsOf({ ...wanted, replicas: 3 })).toEqual(annotationsOf(wanted));
    expect(annotationsOf({ ...wanted, concurrency: 32 })).not.toEqual(annotationsOf(wanted));
  });

  it('alone may reach the internet, on the ports of the web and of the gateway', () => {
    const policy = find('NetworkPolicy', { ...wanted, ipfsGateway: 'https://ipfs.example:8443' });
    expect(policy?.spec?.['podSelector']).toMatchObject({ matchLabels: { 'app.kubernetes.io/component': 'metadata' } });
    const egress = policy?.spec?.['egress'] as readonly { to?: unknown; ports: readonly { port: number }[] }[];
    expect(egress.map(({ to, ports }) => [to !== undefined, ports.map(({ port }) => port)])).toEqual([
      [false, [53, 53]],
      [false, [5432, 6432]],
      [true, [80, 443, 8443]],
    ]);
    const service = objects(wanted).find(({ kind }) => kind === 'NetworkPolicy');
    expect(JSON.stringify(service?.spec?.['podSelector'])).not.toContain('metadata');
  });

  it('are kept from private addresses by their policy too', () => {
    const egress = find('NetworkPolicy')?.spec?.['egress'] as readonly {
      to?: readonly { ipBlock: Blocks[number] }[];
    }[];
    const blocks = egress.flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock));
    expect(blocks.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '2000::/3']);
    // What the policy takes out the pods refuse as well: the first address of each.
    const out = blocks.flatMap(({ except }) => except.map((cidr) => cidr.split('/')[0] ?? ''));
    expect(out.filter((address) => refusedAddress(address) === undefined)).toEqual([]);
    expect(out).toEqual(expect.arrayContaining(['10.0.0.0', '127.0.0.0', '169.254.0.0', '172.16.0.0', '192.168.0.0']));
  });
});

describe('a change of how metadata is fetched', () => {
  it('is none for the pods of the API; whether it is fetched is one', () => {
    expect(apiHash({ ...wanted, concurrency: 32 })).toBe(apiHash(wanted));
    expect(apiHash(wanted)).not.toBe(apiHash());
  });

  it('reaches the pods in their configuration, without what only says how pods are run', () => {
    const text = configText(
      tonApi({ ...wanted, replicas: 3, ipfsGateway: 'https://ipfs.example', resources: { requests: { cpu: 1 } } }),
      references().globalConfig,
    );
    expect(text).not.toContain('resources');
    expect(configFromManifest(text).tokenMetadata).toEqual({
      ipfsGateway: 'https://ipfs.example',
      concurrency: 16,
      concurrencyPerHost: 4,
    });
  });
});
