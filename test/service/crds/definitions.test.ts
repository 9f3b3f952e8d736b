import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { rules } from '#service/config/rules.ts';

import { fieldsOf, pathsOf, sample, schemaOf, versionsOf, type Field } from './definitions.ts';

/** Fields that go with another choice than the full sample's: its lite servers are inline, and it is reached by an HTTPRoute. */
const insteadOf = [
  'spec.liteServerConfigRef',
  'spec.exposure.ingressClassName',
  'spec.exposure.tlsSecretName',
  'spec.rateLimits.redis.caBundle.secretRef',
  'spec.postgres.caBundle.configMapRef',
  'spec.postgres.parts',
  'spec.tokenMetadata.caBundle.secretRef',
  'spec.observability.tracing.caBundle.configMapRef',
];

/** Texts that the API server accepts by the formats alone. */
const durations = {
  good: ['10s', '1m30s', '1.5h', '720h', '250ms', '100µs', '0'],
  bad: ['1d', '30d', '1 day', '2 weeks', '1 hour', '1h 30m', '1e3h', '1H', '-1h', '.5h'],
};
const dateTimes = {
  good: ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00.5+02:00'],
  bad: ['2027-01-01T00:00:00,5Z', '2027-01-01 00:00:00Z', '2027-01-01t00:00:00z'],
};

const projectRoot = resolve(import.meta.dirname, '../../..');

describe.each(['tonapis', 'tonapikeys'])('the definition of %s', (plural) => {
  const fields = fieldsOf(schemaOf(plural));

  it('describes every field (metadata aside, which the API server keeps for itself)', () => {
    const silent = fields.filter(({ path, schema }) => path !== 'metadata' && (schema.description ?? '').length < 5);
    expect(fields.length).toBeGreaterThan(30);
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('bounds every text, list and map, so that the cost of rules is known', () => {
    const unbounded = fields.filter(({ path, schema }) => {
      if (!path.startsWith('spec') && !path.startsWith('status')) return false;
      if (schema.type === 'string') {
        return schema.maxLength === undefined && schema.enum === undefined && schema.format !== 'date-time';
      }
      if (schema.type === 'array') return schema.maxItems === undefined;
      return schema.additionalProperties !== undefined && schema.maxProperties === undefined;
    });
    expect(unbounded.map(({ path }) => path)).toEqual([]);
  });

  it('accepts a duration or a time only in the form that our code reads', () => {
    const times = fields.filter(
      ({ path, schema }) => path.startsWith('spec') && (schema.format === 'duration' || schema.format === 'date-time'),
    );
    expect(times.length).toBeGreaterThan(1);
    for (const { path, schema } of times) {
      const accepts = (text: string): boolean => new RegExp(schema.pattern ?? '').test(text);
      const { good, bad } = schema.format === 'duration' ? durations : dateTimes;
      expect([path, good.filter((text) => !accepts(text)), bad.filter(accepts)]).toEqual([path, [], []]);
    }
  });

  it('says of every list how it merges', () => {
    const lists = fields.filter(({ schema }) => schema.type === 'array');
    expect(lists.filter(({ schema }) => schema['x-kubernetes-list-type'] === undefined)).toEqual([]);
  });

  it('closes every object but those that are a Pod’s', () => {
    const open = fields.filter(
      ({ schema }) =>
        schema.type === 'object' && schema.properties === undefined && schema.additionalProperties === undefined,
    );
    const closable = open.map(({ path }) => path).filter((path) => path !== 'metadata' && !path.startsWith(podSpec));
    expect(closable).toEqual(
      plural === 'tonapis'
        ? ['nodeAffinity', 'podAffinity', 'podAntiAffinity'].map((name) => `spec.podTemplate.affinity.${name}`)
        : [],
    );
  });

  it('has the same form in each version, and stores the first', () => {
    const [first, ...others] = versionsOf(plural);
    expect(others.map(({ name }) => name)).toEqual(['v1beta1']);
    for (const other of others) expect({ ...other, name: first?.name, storage: true }).toEqual(first);
  });

  it('points every rule at a field that exists', () => {
    const paths = new Set(fields.map(({ path }) => path));
    const pointed = fields.flatMap(({ path, schema }) =>
      (schema['x-kubernetes-validations'] ?? []).flatMap(({ fieldPath }) =>
        fieldPath === undefined ? [] : [`${path}${fieldPath}`],
      ),
    );
    expect(pointed.filter((path) => !paths.has(path))).toEqual([]);
  });

  it('has a full sample that sets every field of the spec, and nothing else', () => {
    const kind = plural === 'tonapis' ? 'TonApi' : 'TonApiKey';
    const document = sample('full').documents.find((candidate) => candidate['kind'] === kind);
    const set = new Set(pathsOf(document));
    const wanted = fields
      .map(({ path }) => path)
      .filter((path) => path.startsWith('spec') && !path.startsWith(`${podSpec}.`))
      .filter((path) => !insteadOf.some((other) => path.startsWith(other)));
    expect(wanted.filter((path) => !set.has(path))).toEqual([]);
    const known = new Set(fields.map(({ path }) => path));
    const openParts = fields.filter(isOpen);
    const unknown = [...set].filter(
      (path) =>
        path.startsWith('spec') && !known.has(path) && !openParts.some((part) => path.startsWith(`${part.path}.`)),
    );
    expect(unknown).toEqual([]);
  });
});

/** A PodSpec is Kubernetes' own: the definition names only fields with rules. */
const podSpec = 'spec.podTemplate.spec';

function isOpen({ schema }: Field): boolean {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return true;
  return schema.properties === undefined && schema.type === 'object';
}

describe('the rules of tonapis', () => {
  it('that speak of one state are the rules that the service checks', () => {
    const inDefinition = fieldsOf(schemaOf('tonapis')).flatMap(({ path, schema }) =>
      (schema['x-kubernetes-validations'] ?? [])
        .filter(({ rule }) => !rule.includes('oldSelf'))
        .map(({ rule }) => `${path}: ${rule}`),
    );
    expect(rules.map(({ scope, cel }) => `${scope}: ${cel}`).toSorted()).toEqual(inDefinition.toSorted());
  });
});

describe('what is generated from the definitions', () => {
  it('is as the definitions say', () => {
    const output = execFileSync(process.execPath, ['crds/generate.ts', '--check'], {
      cwd: projectRoot,
      encoding: 'utf8',
    });
    expect(output.trim().split('\n').toSorted()).toEqual([
      'charts/tonplane/templates/crds/tonapikeys.tonplane.dev.yaml: clean',
      'charts/tonplane/templates/crds/tonapis.tonplane.dev.yaml: clean',
      'crds/README.md: clean',
      'service/config/manifest.gen.ts: clean',
    ]);
  });
});
