import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { configText } from '#operator/desired/config-map.ts';
import { coldHash } from '#operator/desired/deployment.ts';
import type { GivenMetadata } from '#operator/desired/given-metadata.ts';
import { references, release, sample } from './samples.ts';
import { fieldsOf, schemaOf } from '#test/service/crds/definitions.ts';

const observability = { serviceMonitor: true, prometheusRule: true } as const;
const childrenOf = (metadata: GivenMetadata | undefined, childMetadata?: GivenMetadata) =>
  build(
    sample('typical', {
      observability: { ...sample('typical').spec.observability, ...observability } as never,
      ...(metadata && { metadata }),
    }),
    references(),
    { ...release, ...(childMetadata && { childMetadata }) },
  ).map(({ object }) => object);

describe('labels and annotations that a manifest gives', () => {
  it('are on every child, beside the operator’s own', () => {
    const children = childrenOf({ labels: { team: 'ton' }, annotations: { 'example.com/owner': 'sre' } });
    expect(children.length).toBeGreaterThan(8);
    for (const { metadata } of children) {
      expect(metadata.labels).toMatchObject({ team: 'ton', 'app.kubernetes.io/managed-by': 'ton-operator' });
      expect(metadata.annotations).toMatchObject({ 'example.com/owner': 'sre' });
    }
  });

  it('are on the objects of one kind alone where the manifest names a kind', () => {
    const children = childrenOf({ kinds: [{ kind: 'ServiceMonitor', labels: { release: 'kube-prometheus-stack' } }] });
    const labelled = children.filter(({ metadata }) => metadata.labels?.['release'] !== undefined);
    expect(labelled.map(({ kind }) => kind)).toEqual(['ServiceMonitor']);
  });

  it('can be given to every kind of object that the operator makes', () => {
    const kinds = fieldsOf(schemaOf('tonapis')).find(({ path }) => path === 'spec.metadata.kinds[].kind');
    const probing = {
      ...release,
      blackboxExporter: { address: 'blackbox:9115', module: 'http_2xx' },
      schemaVersion: 1,
    };
    const made = (['smallest', 'typical', 'full'] as const)
      .flatMap((name) => build(sample(name), references(), probing))
      .map(({ object }) => object.kind ?? '');
    expect(made).toContain('Probe');
    expect(made.filter((kind) => kinds?.schema.enum?.includes(kind) !== true)).toEqual([]);
  });

  it('never take the place of labels and annotations of the operator', () => {
    const given = childrenOf({
      labels: { 'app.kubernetes.io/component': 'other', 'tonplane.dev/tonapi': 'other' },
      annotations: { 'tonplane.dev/config-hash': 'other', 'tonplane.dev/applied-replicas': 'true' },
    });
    const namesAndValues = (children: typeof given) =>
      children.map(({ metadata: { labels, annotations = {} } }) => [labels, annotations]);
    expect(namesAndValues(given)).toEqual(namesAndValues(childrenOf(undefined)));
  });

  it('win over those of the operator’s options, a kind’s own over those of all kinds', () => {
    const monitor = childrenOf(
      { labels: { a: 'manifest', b: 'manifest' } },
      { labels: { a: 'option', b: 'option', c: 'option' }, kinds: [{ kind: 'ServiceMonitor', labels: { b: 'kind' } }] },
    ).find(({ kind }) => kind === 'ServiceMonitor');
    expect(monitor?.metadata.labels).toMatchObject({ a: 'manifest', b: 'kind', c: 'option' });
  });

  it('change the hash of what was applied, and restart no pod', () => {
    const before = sample('typical');
    const after = sample('typical', { metadata: { labels: { team: 'ton' } } });
    const known = { keyring: [], keyringShardsSettled: 0 };
    expect(coldHash(after, known)).toBe(coldHash(before, known));
    expect(configText(after, undefined)).toBe(configText(before, undefined));
    const both = hashes().map((hash, at) => [hash, hashes({ labels: { team: 'ton' } })[at]]);
    expect(both.filter(([one, other]) => one === other)).toEqual([]);
  });
});

const hashes = (metadata?: GivenMetadata) =>
  childrenOf(metadata).map((object) => object.metadata.annotations?.['tonplane.dev/applied-hash']);
