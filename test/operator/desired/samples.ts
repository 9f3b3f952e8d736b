import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseAllDocuments } from 'yaml';

import type { References, Release } from '#operator/desired/references.ts';
import { optionalKinds } from '#operator/kubernetes/resources.ts';
import type { TonApi, TonApiKey } from '#operator/resource.ts';
import { readManifest } from '#service/config/manifest.ts';

import { projectRoot } from '#test/style/sources.ts';

/** Names of the sample files of the custom resources. */
export const sampleNames = ['smallest', 'typical', 'full'] as const;

export const release: Release = {
  version: '0.1.0',
  image: 'registry.example.com/tonplane/service:0.1.0',
  redisImage: 'docker.io/library/redis:8.4.0',
};

/** A global config with two lite servers and a zero state. */
export const globalConfig = JSON.stringify({
  liteservers: [
    { ip: 0x0a000001, port: 4443, id: { '@type': 'pub.ed25519', key: `${'A'.repeat(43)}=` } },
    { ip: 0x0a000002, port: 4444, id: { '@type': 'pub.ed25519', key: `${'B'.repeat(42)}A=` } },
  ],
  validator: {
    zero_state: {
      workchain: -1,
      shard: '-9223372036854775808',
      seqno: 0,
      root_hash: `${'A'.repeat(43)}=`,
      file_hash: `${'A'.repeat(43)}=`,
    },
  },
});

/** A cluster with every optional API, no key and no rollout to wait for. */
export function references(changes: Partial<References> = {}): References {
  return {
    served: new Set(optionalKinds),
    globalConfig,
    keyring: [],
    keyringShardsSettled: 0,
    rollout: {},
    ...changes,
  };
}

/** The TonApi of a sample file as the API server would have it, with a part of its spec changed. */
export function sample(name: (typeof sampleNames)[number], changes: Partial<TonApi['spec']> = {}): TonApi {
  const { tonApi } = readManifest(sampleText(name));
  const metadata = {
    name: 'api',
    namespace: 'ton',
    uid: '11111111-1111-4111-8111-111111111111',
    generation: 1,
    ...tonApi.metadata,
  };
  return { apiVersion: 'tonplane.dev/v1alpha1', kind: 'TonApi', metadata, spec: { ...tonApi.spec, ...changes } };
}

/** The TonApiKey of a sample file, with the defaults that the API server fills in. */
export function sampleKey(changes: Partial<TonApiKey['spec']> = {}): TonApiKey {
  const metadata = {
    name: 'first-customer',
    namespace: 'ton',
    uid: '22222222-2222-4222-8222-222222222222',
    generation: 1,
  };
  const spec = { apiRef: { name: 'mainnet' }, plan: 'pro', disabled: false, ...changes };
  return { apiVersion: 'tonplane.dev/v1alpha1', kind: 'TonApiKey', metadata, spec };
}

/** An object of a TonApi's with other annotations. */
export function annotated<T extends { readonly metadata: TonApi['metadata'] }>(
  object: T,
  annotations: Record<string, string>,
): T {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function sampleText(name: string): string {
  const text = readFileSync(join(projectRoot, `crds/samples/${name}.yaml`), 'utf8');
  const [first] = parseAllDocuments(text);
  return String(first);
}
