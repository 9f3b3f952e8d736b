import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { configFromManifest } from '#service/config.ts';
import { ConfigError } from '#service/config/errors.ts';
import { fieldsOf, schemaOf } from '#test/service/crds/definitions.ts';
import { ClusterError, type ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

import { tonApi, tonApiCases, tonApiKey, tonApiKeyCases, type Change, type RuleCase } from './cases.ts';

const kinds = [
  { plural: 'tonapis', build: tonApi, cases: tonApiCases },
  { plural: 'tonapikeys', build: tonApiKey, cases: tonApiKeyCases },
];

describe.each(kinds)('the cases of $plural', ({ plural, cases }) => {
  it('are about every rule, and about no other', () => {
    const messages = fieldsOf(schemaOf(plural)).flatMap(({ schema }) =>
      (schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
    );
    expect(new Set(cases.map(({ message }) => message))).toEqual(new Set(messages));
  });
});

describe.skipIf(await withoutControlPlane('the rules of the custom resources'))('a real API server', () => {
  let client: ClusterClient;
  let namespace: Awaited<ReturnType<typeof createNamespace>>;
  let objects = 0;
  beforeAll(async () => {
    ({ client } = await joinControlPlane());
    namespace = await createNamespace(client, 'crds');
  });
  afterAll(async () => {
    await namespace?.delete();
    await client?.close();
  });

  describe.each(kinds)('of $plural', ({ plural, build, cases }) => {
    const path = (): string => `/apis/tonplane.dev/v1alpha1/namespaces/${namespace.name}/${plural}`;

    it.each(cases.map((ruleCase, number) => ({ ...ruleCase, number })))(
      'holds rule $number: $message',
      async (ruleCase) => {
        const send = ruleCase.before === undefined ? create : await updateOf(ruleCase.before);
        await expect(send(ruleCase.accepted)).resolves.toBeDefined();
        const refusal = await send(ruleCase.refused).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(refusal).toBeInstanceOf(ClusterError);
        expect((refusal as ClusterError).status).toBe(422);
        // One cause alone: the case breaks this rule and no other.
        expect((refusal as ClusterError).causes).toEqual([
          { field: ruleCase.field, message: expect.stringContaining(ruleCase.message) },
        ]);
      },
    );

    const create = (change: Change) => client.create(`${path()}?dryRun=All&fieldValidation=Strict`, build(change));

    /** Stores an object and returns what replaces it, dry. */
    async function updateOf(before: Change) {
      const rename: Change = (_, object) => void (object['metadata'] = { name: `stored-${objects}` });
      objects++;
      const stored = build(before, rename);
      const { metadata } = await client.create(path(), stored);
      return (change: Change) => {
        const next = build(change, (_, object) => void (object['metadata'] = metadata));
        return client.send('PUT', `${path()}/${metadata.name}?dryRun=All&fieldValidation=Strict`, next);
      };
    }
  });
});

describe('the service, without an API server,', () => {
  // Rules that let existing objects stay are about a change, also where a case creates an object.
  const ofChanges = new Set(
    fieldsOf(schemaOf('tonapis')).flatMap(({ schema }) =>
      (schema['x-kubernetes-validations'] ?? [])
        .filter(({ rule }) => rule.includes('oldSelf'))
        .map(({ message }) => message),
    ),
  );
  const ofOneState = tonApiCases.filter(({ before, message }) => before === undefined && !ofChanges.has(message));

  it.each(ofOneState.map((ruleCase, number) => ({ ...ruleCase, number })))(
    'judges like one: case $number, $message',
    ({ accepted, refused }: RuleCase) => {
      expect(() => configFromManifest(stringify(tonApi(refused)))).toThrow(ConfigError);
      const verdict = problemsOf(tonApi(accepted));
      // A global config that lies elsewhere is the only thing that the manifest alone may lack.
      expect(verdict.filter((path) => !path.startsWith('spec.liteServerConfigRef'))).toEqual([]);
    },
  );
});

function problemsOf(object: object): readonly string[] {
  try {
    configFromManifest(stringify(object));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.data.problems.map(({ path }) => path);
  }
}
