import { describe, expect, it } from 'vitest';

import { changedCold, configFromManifest, hotHashOfManifest } from '#service/config.ts';

import { manifestOf } from './manifest-builder.ts';

const postgres = { secretRef: { name: 'database' } };

const fetching = (tokenMetadata: object): string =>
  manifestOf((spec) => Object.assign(spec, { postgres, tokenMetadata }));

describe('token metadata in a manifest', () => {
  it('is off unless it is asked for', () => {
    expect(configFromManifest(manifestOf((spec) => Object.assign(spec, { postgres }))).tokenMetadata).toBeNull();
  });

  it('is fetched without IPFS and within bounds by default', () => {
    expect(configFromManifest(fetching({})).tokenMetadata).toEqual({
      ipfsGateway: null,
      concurrency: 16,
      concurrencyPerHost: 4,
    });
  });

  it('takes a gateway with or without a slash at the end', () => {
    const gateway = (ipfsGateway: string) => configFromManifest(fetching({ ipfsGateway })).tokenMetadata?.ipfsGateway;
    expect(['https://ipfs.io', 'https://ipfs.io/', 'http://gateway.example:8080/base//'].map(gateway)).toEqual([
      'https://ipfs.io',
      'https://ipfs.io',
      'http://gateway.example:8080/base',
    ]);
  });

  it('is cold: whether it is fetched, and how, take effect with the next start', () => {
    const off = configFromManifest(manifestOf((spec) => Object.assign(spec, { postgres })));
    const [on, faster] = [fetching({}), fetching({ concurrency: 32 })];
    expect(changedCold(off, configFromManifest(on))).toContain('tokenMetadata');
    expect(changedCold(configFromManifest(on), configFromManifest(faster))).toEqual(['tokenMetadata.concurrency']);
    expect(hotHashOfManifest(faster)).toBe(hotHashOfManifest(on));
  });
});
