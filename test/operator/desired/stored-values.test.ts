import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { unreadableValues, withReadableValues } from '#operator/desired/stored-values.ts';
import type { TonApi } from '#operator/resource.ts';
import { fieldsOf, schemaOf } from '#test/service/crds/definitions.ts';

import { references, release, sample } from './samples.ts';

/** Formats of text. The others are of numbers. */
const textFormats = new Set(['duration', 'uri', 'date-time']);

/** Fields of the spec that have a format of text, by the definition. */
const textFields = fieldsOf(schemaOf('tonapis')).filter(
  ({ path, schema }) => path.startsWith('spec') && textFormats.has(schema.format ?? ''),
);

/** A value that older definitions accepted, for each format. */
const accepted: Readonly<Record<string, string>> = { duration: '2 weeks', uri: 'http://x:99999' };

/** The full sample with an unreadable value in a field. */
function broken(path: string, format: string | undefined): TonApi {
  const tonApi = structuredClone(sample('full'));
  const steps = path.replaceAll('[]', '.0').split('.');
  const last = steps.pop() ?? '';
  const parent = steps.reduce(
    (value, step) => value[step] as Record<string, unknown>,
    tonApi as Record<string, unknown>,
  );
  expect(parent[last]).toBeTypeOf('string');
  parent[last] = accepted[format ?? ''];
  return tonApi;
}

describe('a stored value that the operator cannot read', () => {
  it.each(textFields.map(({ path, schema }) => [path, schema.format] as const))(
    'is found in %s (%s), and does not stop the build',
    (path, format) => {
      const tonApi = broken(path, format);
      const found = unreadableValues(tonApi);
      expect(found.map((value) => value.path)).toEqual([path.replaceAll('[]', '[0]')]);
      expect(found[0]?.expected).toContain(`got "${accepted[format ?? '']}"`);
      const mended = withReadableValues(tonApi);
      expect(unreadableValues(mended)).toEqual(path.includes('[]') ? found : []);
      expect(build(mended, references(), release).length).toBe(build(sample('full'), references(), release).length);
    },
  );

  it('counts as the default of its field', () => {
    const { spec } = sample('full');
    const autoscaling = { ...spec.autoscaling!, scaleDownStabilization: '10 minutes' };
    const mended = withReadableValues(sample('full', { requestTimeout: '1 minute', autoscaling }));
    expect(mended.spec.requestTimeout).toBe('10s');
    expect(mended.spec.autoscaling?.scaleDownStabilization).toBe('5m');
  });

  it('is left out without a default, with the parent that needs it', () => {
    const { observability, tokenMetadata } = sample('full').spec;
    const tracing = { endpoint: 'http://:4318', sampleRatio: '1' };
    const mended = withReadableValues(
      sample('full', {
        observability: { ...observability!, tracing },
        tokenMetadata: { ...tokenMetadata!, ipfsGateway: 'http://256.1.1.1' },
      }),
    );
    const { tracing: _tracing, ...others } = observability!;
    const { ipfsGateway: _gateway, ...rest } = tokenMetadata!;
    expect(mended.spec.observability).toEqual(others);
    expect(mended.spec.tokenMetadata).toEqual(rest);
  });

  it.each(['http://x:99999', 'http://:4318', 'http://256.1.1.1', 'http://1.2.3.4.5', 'http://x:0'])(
    'is the URL %s',
    (endpoint) => {
      const observability = { ...sample('full').spec.observability!, tracing: { endpoint, sampleRatio: '1' } };
      expect(unreadableValues(sample('full', { observability }))).toEqual([
        { path: 'spec.observability.tracing.endpoint', expected: `expected a URL, got "${endpoint}"` },
      ]);
    },
  );

  it('is in no sample, so each stays the same object', () => {
    const tonApi = sample('full');
    expect(unreadableValues(tonApi)).toEqual([]);
    expect(withReadableValues(tonApi)).toBe(tonApi);
  });
});
