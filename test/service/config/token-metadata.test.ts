import { describe, expect, it } from 'vitest';

import { changedCold, configFromManifest, hotHashOfManifest } from '#service/config.ts';

import { manifestOf, problemLines } from './manifest-builder.ts';

const postgres = { secretRef: { name: 'database' } };

const fetching = (tokenMetadata: object): string =>
  manifestOf((spec) => Object.assign(spec, { postgres, tokenMetadata }));

const gatewayOf = (ipfsGateway: string) => configFromManifest(fetching({ ipfsGateway })).tokenMetadata?.ipfsGateway;

describe('token metadata in a manifest', () => {
  it('token metadata is not fetched unless configured', () => {
    expect(configFromManifest(manifestOf((spec) => Object.assign(spec, { postgres }))).tokenMetadata).toBeNull();
  });

  it('token metadata is fetched without IPFS and within bounds by default', () => {
    expect(configFromManifest(fetching({})).tokenMetadata).toEqual({
      ipfsGateway: null,
      concurrency: 16,
      concurrencyPerHost: 4,
    });
  });

  it('the gateway may have a trailing slash', () => {
    expect(['https://ipfs.io', 'https://ipfs.io/', 'http://gateway.example:8080/base//'].map(gatewayOf)).toEqual([
      'https://ipfs.io',
      'https://ipfs.io',
      'http://gateway.example:8080/base',
    ]);
  });

  it('token metadata is cold: changes take effect at the next start', () => {
    const off = configFromManifest(manifestOf((spec) => Object.assign(spec, { postgres })));
    const [on, faster] = [fetching({}), fetching({ concurrency: 32 })];
    expect(changedCold(off, configFromManifest(on))).toContain('tokenMetadata');
    expect(changedCold(configFromManifest(on), configFromManifest(faster))).toEqual(['tokenMetadata.concurrency']);
    expect(hotHashOfManifest(faster)).toBe(hotHashOfManifest(on));
  });

  it.each([
    'ftp://ipfs.io',
    'https://user:secret@ipfs.io',
    'https://ipfs.io/?a=b',
    'ipfs.io',
    'https://',
    'https://ipfs.io:99999',
  ])('a gateway %s is refused', (ipfsGateway) => {
    expect(problemLines(fetching({ ipfsGateway }))).toEqual([
      `spec.tokenMetadata.ipfsGateway: expected an http or https URL without credentials, query or fragment, got "${ipfsGateway}"`,
    ]);
  });

  it.each([
    [
      { concurrency: 2, concurrencyPerHost: 3 },
      'spec.tokenMetadata.concurrencyPerHost: expected at most concurrency (2), got 3',
    ],
    [{ concurrency: 0 }, 'spec.tokenMetadata.concurrency: expected a whole number from 1 to 256, got 0'],
    [{ replicas: 17 }, 'spec.tokenMetadata.replicas: expected a whole number from 1 to 16, got 17'],
    [
      { imageProxy: 'x' },
      'spec.tokenMetadata.imageProxy: expected no such field, only ipfsGateway, caBundle, replicas, concurrency, concurrencyPerHost, resources',
    ],
  ])('token metadata is refused with %j', (fields, problem) => {
    expect(problemLines(fetching(fields))).toEqual([problem]);
  });

  it('token metadata is refused without a database', () => {
    expect(problemLines(manifestOf((spec) => void (spec['tokenMetadata'] = {})))).toEqual([
      'spec.postgres: expected postgres with secretRef or parts, because tokenMetadata is set, got nothing',
    ]);
  });
});
