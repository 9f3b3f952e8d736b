import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { configFromManifest, canonicalHash } from '#service/config.ts';

import { firstOf, key, manifestOf } from './manifest-builder.ts';

describe('the configuration of a manifest', () => {
  it('every value has the form that the service works with', () => {
    const config = configFromManifest(
      manifestOf((spec) => {
        Object.assign(firstOf(spec, 'plans'), {
          methodCosts: [{ method: 'runGetMethod', cost: 3 }],
          requestsPerDay: 0,
          liteServerTiers: ['shared'],
          getMethods: { gas: 1_000_000 },
          streaming: { connections: 3 },
        });
        Object.assign(spec, {
          liteServers: [
            {
              name: 'v6',
              address: '[2001:db8::1]:443',
              publicKey: key,
              role: 'archive',
              weight: 7,
              maxInFlight: 9,
              tier: 'private',
              cordoned: true,
            },
            { name: 'b', address: 'b:1', publicKey: key },
          ],
          initBlock: { seqno: 5, rootHash: key, fileHash: key },
          requestTimeout: '1m1.5s',
          api: { v2: { blockIdTag: 'chain.blockIdExt', legacyOperations: true }, v3: { unknownParameters: 'Refuse' } },
          streaming: {
            maxConnectionsPerPod: 500,
            confirmed: 'Off',
            replay: { short: '90s', final: '36h', events: 5_000 },
            queue: { eventsPerConnection: 32, bytesPerConnection: 100_000 },
          },
          anonymousPlan: 'free',
          trustedProxies: 2,
          http: { connectionsPerAddress: 64, compression: true, internalNames: ['status.example.org'] },
          rollout: { drainSeconds: 3 },
          observability: { logLevel: 'warn', tracing: { endpoint: 'http://collector:4318' } },
        });
      }),
      {
        host: '::',
        port: 0,
        internalPort: 9000,
        internalNames: ['other.example.org'],
        stateDir: 'state',
        keyringFile: 'keys.json',
        tracingEndpoint: 'http://other',
      },
    );
    const hash = Buffer.alloc(32, 7);
    const block = { workchain: -1, shard: 0x8000000000000000n, rootHash: hash, fileHash: hash };
    const unlimited = { requestsPerDay: null, maxConcurrent: null, archive: false };
    const everyTier = { liteServerTiers: ['shared', 'private'] };
    expect(config).toEqual({
      name: 'test',
      network: 'testnet',
      trust: 'verified',
      liteServers: [
        {
          name: 'v6',
          host: '2001:db8::1',
          port: 443,
          publicKey: hash,
          role: 'archive',
          weight: 7,
          maxInFlight: 9,
          tier: 'private',
          cordoned: true,
          slices: null,
        },
        {
          name: 'b',
          host: 'b',
          port: 1,
          publicKey: hash,
          role: 'latest',
          weight: 10,
          maxInFlight: 256,
          tier: 'shared',
          cordoned: false,
          slices: null,
        },
      ],
      anchors: { zeroState: { ...block, seqno: 0 }, initBlock: { ...block, seqno: 5 } },
      surfaces: ['v2'],
      api: { v2: { blockIdTag: 'chain.blockIdExt', legacyOperations: true }, v3: { unknownParameters: 'Refuse' } },
      streaming: {
        maxConnectionsPerPod: 500,
        confirmed: 'Off',
        replay: { shortMs: 90_000, finalMs: 129_600_000, events: 5_000 },
        queue: { eventsPerConnection: 32, bytesPerConnection: 100_000, bytesPerPod: 268_435_456 },
      },
      requestTimeoutMs: 61_500,
      drainSeconds: 3,
      plans: [
        {
          name: 'free',
          requestsPerSecond: 1,
          burst: 1,
          ...unlimited,
          liteServerTiers: ['shared'],
          methodCosts: { runGetMethod: 3 },
          getMethods: { gas: 1_000_000 },
          streaming: { connections: 3 },
        },
        { name: 'pro', requestsPerSecond: 100, burst: 200, ...unlimited, ...everyTier, methodCosts: {} },
      ],
      anonymousPlan: 'free',
      trustedProxies: 2,
      http: {
        connectionsPerAddress: 64,
        compression: true,
        internalNames: ['status.example.org', 'other.example.org'],
      },
      rateLimits: { redis: { secret: { name: 'redis', key: 'url' } }, onRedisFailure: 'Local' },
      postgres: null,
      indexer: null,
      tokenMetadata: null,
      keyringFile: 'keys.json',
      observability: { logLevel: 'warn', tracing: { endpoint: 'http://collector:4318', sampleRatio: 0.01 } },
      listen: { host: '::', port: 0, internalPort: 9000 },
      stateDir: 'state',
    });
  });

  it.each([[undefined], [{}], [{ v2: {} }]])(
    'block ids have the names that clients use, unless configured otherwise, with api %j',
    (api) => {
      const config = configFromManifest(manifestOf((spec) => void (api !== undefined && (spec['api'] = api))));
      expect(config.api).toEqual({
        v2: { blockIdTag: 'ton.blockIdExt', legacyOperations: false },
        v3: { unknownParameters: 'Ignore' },
      });
    },
  );

  it('one manifest gives one configuration byte for byte, as YAML or JSON, and another manifest gives another', () => {
    const text = manifestOf();
    const hash = canonicalHash(configFromManifest(text));
    expect(canonicalHash(configFromManifest(text))).toBe(hash);
    expect(canonicalHash(configFromManifest(JSON.stringify(parse(text))))).toBe(hash);
    expect(canonicalHash(configFromManifest(manifestOf((spec) => void (spec['trustedProxies'] = 1))))).not.toBe(hash);
  });

  it('the configuration is frozen at every depth', () => {
    const config = configFromManifest(manifestOf());
    const parts = [
      config,
      config.plans,
      config.plans[0],
      config.plans[0]?.methodCosts,
      config.liteServers[0],
      config.anchors?.zeroState,
      config.listen,
      config.surfaces,
    ];
    expect(parts.every((part) => Object.isFrozen(part))).toBe(true);
  });

  it('if the manifest is silent, only the collector and the log level come from the environment', () => {
    const config = configFromManifest(manifestOf(), { tracingEndpoint: 'http://127.0.0.1:4318', logLevel: 'debug' });
    expect(config.observability).toEqual({
      logLevel: 'debug',
      tracing: { endpoint: 'http://127.0.0.1:4318', sampleRatio: 1 },
    });
    expect(configFromManifest(manifestOf()).observability).toEqual({ logLevel: 'info', tracing: null });
  });
});
