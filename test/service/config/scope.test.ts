import { describe, expect, it } from 'vitest';

import { configFromManifest } from '#service/config.ts';
import { scopeOf } from '#service/config/scope.ts';

import { manifestOf, problemLines } from './manifest-builder.ts';

const withMetadata = (metadata: object): string =>
  manifestOf((_spec, document) => void (document['metadata'] = metadata));

describe('the scope of a TonApi in Redis', () => {
  it.each<[string, object, string]>([
    ['has its namespace and its name', { name: 'main', namespace: 'team-a' }, 'team-a/main'],
    ['is its name where the manifest has no namespace', { name: 'main' }, 'main'],
    ['is its name where the namespace is null', { name: 'main', namespace: null }, 'main'],
  ])('the scope of a TonApi %s', (_what, metadata, scope) => {
    expect(scopeOf(configFromManifest(withMetadata(metadata)))).toBe(scope);
  });

  it.each<[unknown]>([[''], ['a/b'], ['a}b'], ['Team'], [5], [{}], ['a'.repeat(64)]])(
    'the namespace %j is refused, as by Kubernetes',
    (namespace) => {
      expect(problemLines(withMetadata({ name: 'main', namespace }))).toMatchObject([
        expect.stringContaining('metadata.namespace: expected the name of a namespace'),
      ]);
    },
  );
});
