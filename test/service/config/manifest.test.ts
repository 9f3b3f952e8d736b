import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';

import { firstOf, key, manifestOf, problemLines, problemsOf } from './manifest-builder.ts';

/** Returns `path: expected` of every problem. */
function linesOf(change: Parameters<typeof manifestOf>[0]): string[] {
  return problemLines(manifestOf(change));
}

const postgres = { secretRef: { name: 'pg' } };
const given = { value: 'x' };
const connection = { host: given, database: given, user: given, password: postgres, readOnlyHost: given };

describe('a manifest is taken', () => {
  it.each<[string, Parameters<typeof manifestOf>[0]]>([
    ['with what must be given', () => {}],
    ['with an IPv6 lite server', (spec) => void (firstOf(spec, 'liteServers')['address'] = '[::1]:443')],
    ['with an embedded Redis', (spec) => void (spec['rateLimits'] = { redis: { embedded: true } })],
    [
      'with partitions in their mode',
      (spec) => Object.assign(spec, { postgres, indexer: { mode: 'Partitioned', partitions: 4 } }),
    ],
    ['of version v1beta1', (_spec, document) => void (document['apiVersion'] = 'tonplane.dev/v1beta1')],
    ['with the v3 surface and its database', (spec) => Object.assign(spec, { postgres, surfaces: ['v2', 'v3'] })],
    [
      'with autoscaling towards one target',
      (spec) => void (spec['autoscaling'] = { maxReplicas: 5, targetCPUUtilization: 70 }),
    ],
    [
      'with a route and its gateway',
      (spec) => void (spec['exposure'] = { kind: 'HTTPRoute', hosts: ['a.example'], parentRefs: [{ name: 'gw' }] }),
    ],
    [
      'with a canary and its steps',
      (spec) => void (spec['rollout'] = { strategy: 'Canary', steps: [{ weight: 10, hold: '5m' }] }),
    ],
    [
      'with an archive plan and server',
      (spec) => {
        firstOf(spec, 'plans')['archive'] = true;
        firstOf(spec, 'liteServers')['role'] = 'archive';
      },
    ],
    [
      'with a selector of namespaces',
      (spec) => void (spec['keys'] = { allowedNamespaces: 'Selector', selector: { matchLabels: { a: 'b' } } }),
    ],
    [
      'with a status and labels, as kubectl prints it',
      (_spec, document) => {
        document['status'] = { replicas: 2, conditions: [] };
        document['metadata'] = { name: 'test', labels: { a: 'b' }, resourceVersion: '1' };
      },
    ],
  ])('the manifest is accepted %s', (_what, change) => {
    expect(linesOf(change)).toEqual([]);
  });
});

describe('a manifest is refused', () => {
  it.each<[string, Parameters<typeof manifestOf>[0]]>([
    [
      'apiVersion: expected tonplane.dev/v1alpha1 or tonplane.dev/v1beta1, got "v1"',
      (_spec, document) => void (document['apiVersion'] = 'v1'),
    ],
    ['metadata.name: expected a name, got nothing', (_spec, document) => void (document['metadata'] = {})],
    [
      'metadata.name: expected at most 40 characters, got 41',
      (_spec, document) => void (document['metadata'] = { name: 'a'.repeat(41) }),
    ],
    [
      'spec.network: expected one of mainnet, testnet, custom, got "tesnet"',
      (spec) => void (spec['network'] = 'tesnet'),
    ],
    ['spec.network: expected one of mainnet, testnet, custom, got nothing', (spec) => delete spec['network']],
    ['spec.plans: expected a list of 1 to 32 elements, got []', (spec) => void (spec['plans'] = [])],
    [
      'spec.plans[0].burst: expected at least requestsPerSecond (1), got 0',
      (spec) => void (firstOf(spec, 'plans')['burst'] = 0),
    ],
    [
      'spec.plans[0].requestsPerSecond: expected a whole number from 0 to 1000000, got -1',
      (spec) => void (firstOf(spec, 'plans')['requestsPerSecond'] = -1),
    ],
    [
      'spec.plans[0].requestsPerSecond: expected a whole number from 0 to 1000000, got "1"',
      (spec) => void (firstOf(spec, 'plans')['requestsPerSecond'] = '1'),
    ],
    [
      'spec.plans[1].name: expected each name once, got "pro" again',
      (spec) => void (firstOf(spec, 'plans')['name'] = 'pro'),
    ],
    [
      'spec.plans[0].methodCosts[1].method: expected each method once, got "a" again',
      (spec) =>
        void (firstOf(spec, 'plans')['methodCosts'] = [
          { method: 'a', cost: 1 },
          { method: 'a', cost: 2 },
        ]),
    ],
    [
      'spec.anonymousPlan: expected the name of a plan (free, pro), got "nope"',
      (spec) => void (spec['anonymousPlan'] = 'nope'),
    ],
    [
      'spec.liteServers: expected exactly one of liteServers, liteServerConfigRef, got neither',
      (spec) => delete spec['liteServers'],
    ],
    [
      'spec.liteServers: expected exactly one of liteServers, liteServerConfigRef, got both',
      (spec) => void (spec['liteServerConfigRef'] = { name: 'x' }),
    ],
    [
      'spec.liteServers[0].address: expected a port from 1 to 65535, got 0',
      (spec) => void (firstOf(spec, 'liteServers')['address'] = 'h:0'),
    ],
    [
      'spec.liteServers[0].address: expected a port from 1 to 65535, got 65536',
      (spec) => void (firstOf(spec, 'liteServers')['address'] = 'h:65536'),
    ],
    [
      'spec.liteServers[0].address: expected host:port or [v6]:port, got "h"',
      (spec) => void (firstOf(spec, 'liteServers')['address'] = 'h'),
    ],
    [
      'spec.liteServers[0].publicKey: expected base64 of 32 bytes (44 characters), got "x"',
      (spec) => void (firstOf(spec, 'liteServers')['publicKey'] = 'x'),
    ],
    [
      'spec.liteServers: expected a lite server with role archive, because plan free has archive',
      (spec) => void (firstOf(spec, 'plans')['archive'] = true),
    ],
    [
      'spec.liteServers: expected a lite server with tier private, because plan free names that tier',
      (spec) => void (firstOf(spec, 'plans')['liteServerTiers'] = ['shared', 'private']),
    ],
    [
      'spec.plans[0].liteServerTiers: expected a list of 1 to 2 elements, got []',
      (spec) => void (firstOf(spec, 'plans')['liteServerTiers'] = []),
    ],
    ['spec.zeroState: expected rootHash and fileHash, got nothing', (spec) => delete spec['zeroState']],
    [
      'spec.zeroState: expected rootHash and fileHash, got nothing',
      (spec) => {
        spec['trust'] = 'none';
        delete spec['zeroState'];
      },
    ],
    [
      'spec.zeroState: expected rootHash and fileHash, because initBlock is set, got nothing',
      (spec) => {
        delete spec['zeroState'];
        Object.assign(spec, { trust: 'none', initBlock: { seqno: 1, rootHash: key, fileHash: key } });
      },
    ],
    ['spec.trust: expected one of verified, signed-head, none, got "some"', (spec) => void (spec['trust'] = 'some')],
    ['spec.trustedProxies: expected a whole number from 0 to 16, got 17', (spec) => void (spec['trustedProxies'] = 17)],
    [
      'spec.requestTimeout: expected a duration as 10s or 1m30s, got "ten"',
      (spec) => void (spec['requestTimeout'] = 'ten'),
    ],
    [
      'spec.requestTimeout: expected a duration from 100ms to 5m, got 0s',
      (spec) => void (spec['requestTimeout'] = '0s'),
    ],
    [
      'spec.requestTimeout: expected a duration from 100ms to 5m, got 5m1s',
      (spec) => void (spec['requestTimeout'] = '5m1s'),
    ],
    ['spec.surfaces: expected a list of 1 to 6 elements, got []', (spec) => void (spec['surfaces'] = [])],
    [
      'spec.surfaces: expected v3 among them, because stream is, got ["stream"]',
      (spec) => void (spec['surfaces'] = ['stream']),
    ],
    [
      'spec.surfaces: expected v3 among them, because explorer is, got ["explorer"]',
      (spec) => void (spec['surfaces'] = ['explorer']),
    ],
    ['spec.surfaces[1]: expected each value once, got "v2" again', (spec) => void (spec['surfaces'] = ['v2', 'v2'])],
    [
      'spec.postgres: expected postgres with secretRef or parts, because surfaces has v3, got nothing',
      (spec) => void (spec['surfaces'] = ['v3']),
    ],
    [
      'spec.postgres: expected postgres with secretRef or parts, because indexer is set, got nothing',
      (spec) => void (spec['indexer'] = {}),
    ],
    [
      'spec.postgres: expected at most one of readOnlySecretRef, parts.readOnlyHost, got both',
      (spec) => void (spec['postgres'] = { parts: connection, readOnlySecretRef: { name: 'replica' } }),
    ],
    [
      'spec.podTemplate.spec.serviceAccountName: expected no serviceAccountName, because the operator decides it',
      (spec) => void (spec['podTemplate'] = { spec: { serviceAccountName: 'reader' } }),
    ],
    [
      'spec.podTemplate.spec.containers[0].image: expected no image, because api is a container of the operator',
      (spec) => void (spec['podTemplate'] = { spec: { containers: [{ name: 'api', image: 'x' }] } }),
    ],
    [
      'spec.podTemplate.spec.containers[0].lifecycle.preStop: expected no preStop, because the operator sets that of api',
      (spec) => void (spec['podTemplate'] = { spec: { containers: [{ name: 'api', lifecycle: { preStop: {} } }] } }),
    ],
    [
      'spec.indexer.partitions: expected 1, because mode is SingleWriter, got 4',
      (spec) => Object.assign(spec, { postgres, indexer: { partitions: 4 } }),
    ],
    [
      'spec.rateLimits.redis: expected exactly one of secretRef, embedded: true, got neither',
      (spec) => void (spec['rateLimits'] = { redis: {} }),
    ],
    [
      'spec.rateLimits.redis: expected exactly one of secretRef, embedded: true, got both',
      (spec) => void (spec['rateLimits'] = { redis: { secretRef: { name: 'a' }, embedded: true } }),
    ],
    ['spec.rateLimits.redis: expected an object, got nothing', (spec) => void (spec['rateLimits'] = {})],
    [
      'spec.autoscaling: expected targetCPUUtilization, targetRequestsPerSecond or targetStreamConnections, got none',
      (spec) => void (spec['autoscaling'] = { maxReplicas: 5 }),
    ],
    [
      'spec.autoscaling.minReplicas: expected at most maxReplicas (1), got 3',
      (spec) => void (spec['autoscaling'] = { maxReplicas: 1, minReplicas: 3, targetCPUUtilization: 60 }),
    ],
    [
      'spec.exposure.parentRefs: expected a Gateway, because kind is HTTPRoute',
      (spec) => void (spec['exposure'] = { kind: 'HTTPRoute', hosts: ['a.b'] }),
    ],
    [
      'spec.exposure.parentRefs: expected no Gateway, because kind is Ingress',
      (spec) => void (spec['exposure'] = { kind: 'Ingress', hosts: ['a.b'], parentRefs: [{ name: 'g' }] }),
    ],
    [
      'spec.rollout.steps: expected at least one step, because strategy is Canary',
      (spec) => void (spec['rollout'] = { strategy: 'Canary' }),
    ],
    [
      'spec.rollout.steps: expected no steps, because strategy is Rolling',
      (spec) => void (spec['rollout'] = { steps: [{ weight: 1, hold: '1m' }] }),
    ],
    [
      'spec.keys.selector: expected labels, because allowedNamespaces is Selector',
      (spec) => void (spec['keys'] = { allowedNamespaces: 'Selector' }),
    ],
    [
      'spec.observability.tracing.endpoint: expected an http or https URL, got ftp://x',
      (spec) => void (spec['observability'] = { tracing: { endpoint: 'ftp://x' } }),
    ],
    [
      'spec.podTemplate.labels.a: expected text of at most 63 characters, got 1',
      (spec) => void (spec['podTemplate'] = { labels: { a: 1 } }),
    ],
    [
      'spec.rollout.drain: expected no such field, only strategy, steps, maxSurge, maxUnavailable, maxErrorRatio, drainSeconds',
      (spec) => void (spec['rollout'] = { drain: 3 }),
    ],
    ['spec: expected an object, got nothing', (_spec, document) => delete document['spec']],
    [
      'apiVersion: expected tonplane.dev/v1alpha1 or tonplane.dev/v1beta1, got a value that holds itself',
      (_spec, document) => {
        const circle: unknown[] = [];
        circle.push(circle);
        document['apiVersion'] = circle;
      },
    ],
  ])('the manifest is refused: %s', (line, change) => {
    expect(linesOf(change)).toEqual([line]);
  });

  it('the manifest is refused with every problem at once, of shape and of rules', () => {
    const lines = linesOf((spec) => {
      spec['network'] = 'x';
      spec['bogus'] = 1;
      spec['anonymousPlan'] = 'nope';
      firstOf(spec, 'plans')['requestsPerSecond'] = 10;
      firstOf(spec, 'plans')['burst'] = 5;
      firstOf(spec, 'liteServers')['address'] = 'h:0';
      firstOf(spec, 'liteServers')['weight'] = 0;
    });
    expect(lines.map((line) => line.replace(/:.*/, '')).toSorted()).toEqual([
      'spec.anonymousPlan',
      'spec.bogus',
      'spec.liteServers[0].address',
      'spec.liteServers[0].weight',
      'spec.network',
      'spec.plans[0].burst',
    ]);
    expect(lines).toContain('spec.plans[0].burst: expected at least requestsPerSecond (10), got 5');
  });

  it.each([
    ['empty text', '', 'expected one document of kind TonApi, got 0'],
    ['another kind', 'kind: ConfigMap', 'expected one document of kind TonApi, got 0'],
    ['two of them', `${manifestOf()}---\n${manifestOf()}`, 'expected one document of kind TonApi, got 2'],
    ['a scalar', '42', 'expected one document of kind TonApi, got 0'],
    ['no YAML', 'a: [', 'expected YAML or JSON: '],
    ['a key twice', 'kind: TonApi\nkind: TonApi', 'expected YAML or JSON: Map keys must be unique'],
    ['too much', `# ${'x'.repeat(2 * 1024 * 1024)}`, 'expected at most 2097152 bytes'],
    ['depth without end', '['.repeat(20_000), 'expected YAML or JSON: '],
    ['aliases that multiply', billionAliases(), 'expected YAML or JSON: '],
  ])('the manifest is refused when the file is %s', (_what, text, expected) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.path).toBe('');
    expect(problems[0]?.expected).toContain(expected);
  });

  it('the manifest is refused only by ConfigError, whichever value is replaced', () => {
    const document = parse(
      manifestOf((spec) =>
        Object.assign(spec, { postgres, indexer: {}, exposure: { kind: 'Ingress', hosts: ['a.b'] } }),
      ),
    );
    const places = placesOf(document);
    const junk = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(null, '', -1, 1e300, [], {}, [null], 'a'.repeat(300)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...places), junk), { minLength: 1, maxLength: 4 }), (changes) => {
        const broken = structuredClone(document);
        for (const [place, value] of changes) replaceAt(broken, place, structuredClone(value));
        for (const problem of problemsOf(stringify(broken))) expect(problem.expected).toMatch(/^expected /);
      }),
      { seed: 20_261_121, numRuns: 1000 },
    );
  });
});

type Place = readonly (string | number)[];

function placesOf(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place];
  const below = Object.entries(value).flatMap(([name, field]) =>
    placesOf(field, [...place, Array.isArray(value) ? Number(name) : name]),
  );
  return [place, ...below].filter(({ length }) => length > 0);
}

function replaceAt(document: unknown, place: Place, value: unknown): void {
  let holder = document as Record<string | number, unknown>;
  for (const step of place.slice(0, -1)) {
    const next = holder[step];
    if (typeof next !== 'object' || next === null) return;
    holder = next as Record<string | number, unknown>;
  }
  const last = place.at(-1);
  if (last !== undefined) holder[last] = value;
}

function billionAliases(): string {
  const rows = Array.from(
    { length: 9 },
    (_, row) => `a${row + 1}: &a${row + 1} [${Array.from({ length: 9 }, () => `*a${row}`).join(', ')}]`,
  );
  return ['a0: &a0 [x]', ...rows].join('\n');
}
