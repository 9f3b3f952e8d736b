import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { hotFields } from '#service/config/manifest.gen.ts';
import { changedCold, configFromManifest, hotHashOfManifest, isOtherNetwork } from '#service/config.ts';

import { firstOf, key, manifestOf } from './manifest-builder.ts';

type Change = Parameters<typeof manifestOf>[0];

const before = manifestOf();

describe('the hot part of a configuration', () => {
  it.each<[string, Change]>([
    ['a plan', (spec) => void (firstOf(spec, 'plans')['requestsPerSecond'] = 2)],
    ['the plan without a key', (spec) => void (spec['anonymousPlan'] = 'free')],
    ['a lite server', (spec) => void (firstOf(spec, 'liteServers')['weight'] = 11)],
    ['the number of proxies', (spec) => void (spec['trustedProxies'] = 1)],
    ['the streams of a pod', (spec) => void (spec['streaming'] = { maxConnectionsPerPod: 7 })],
    ['the level of signed blocks', (spec) => void (spec['streaming'] = { confirmed: 'Off' })],
    ['the time in which streams resume', (spec) => void (spec['streaming'] = { replay: { short: '5m' } })],
    ['the unsent events of a stream', (spec) => void (spec['streaming'] = { queue: { eventsPerConnection: 512 } })],
    ['the log level', (spec) => void (spec['observability'] = { logLevel: 'debug' })],
    [
      'the rule for a Redis that is away',
      (spec) => void (spec['rateLimits'] = { redis: { secretRef: { name: 'redis' } }, onRedisFailure: 'Closed' }),
    ],
  ])('a change of %s changes the hot hash, and no field needs a restart', (_what, change) => {
    const after = manifestOf(change);
    expect(hotHashOfManifest(after)).not.toBe(hotHashOfManifest(before));
    expect(changedCold(configFromManifest(before), configFromManifest(after))).toEqual([]);
  });

  it.each<[string, Change]>([
    ['requestTimeoutMs', (spec) => void (spec['requestTimeout'] = '3s')],
    ['surfaces', (spec) => void (spec['surfaces'] = ['jsonrpc'])],
    ['rateLimits.redis', (spec) => void (spec['rateLimits'] = { redis: { embedded: true } })],
    ['name', (_spec, document) => void (document['metadata'] = { name: 'other' })],
  ])('a change of %s takes effect at the next start', (name, change) => {
    const after = manifestOf(change);
    expect(hotHashOfManifest(after)).toBe(hotHashOfManifest(before));
    expect(changedCold(configFromManifest(before), configFromManifest(after))).toEqual([name]);
  });

  it('tracing that is switched on takes effect at the next start', () => {
    const after = manifestOf((spec) => void (spec['observability'] = { tracing: { endpoint: 'https://traces:4318' } }));
    expect(changedCold(configFromManifest(before), configFromManifest(after))).toEqual([
      'observability.tracing.endpoint',
    ]);
  });

  it('hot fields have names of their own, because the hash names fields without their path', () => {
    const names = hotFields.map((path) => path.split('.').at(-1));
    expect(names).toEqual([...new Set(names)]);
    expect(names.length).toBeGreaterThan(5);
  });

  it('the hot hash of a manifest does not depend on its form or on omitted defaults', () => {
    const document = parse(before) as { spec: Record<string, unknown> };
    const reversed = Object.fromEntries(Object.entries(document.spec).toReversed());
    const spelled = { ...document, spec: { ...reversed, trust: 'verified', trustedProxies: 0 } };
    expect(hotHashOfManifest(JSON.stringify(spelled))).toBe(hotHashOfManifest(before));
  });

  it('a configuration is of another network if the network or its zero state differs', () => {
    const config = configFromManifest(before);
    const other = manifestOf((spec) => {
      spec['zeroState'] = { rootHash: Buffer.alloc(32, 8).toString('base64'), fileHash: key };
    });
    expect(isOtherNetwork(config, configFromManifest(other))).toBe(true);
    expect(isOtherNetwork(config, configFromManifest(manifestOf((spec) => void (spec['trustedProxies'] = 1))))).toBe(
      false,
    );
  });
});
