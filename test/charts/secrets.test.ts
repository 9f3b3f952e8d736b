import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';

import type { TonApi } from '#service/config/manifest.gen.ts';
import { readManifest } from '#service/config/manifest.ts';
import { chartsFolder } from '#test/support/charts.ts';

type ExternalSecret = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly target: { readonly name: string; readonly template?: { readonly data: Readonly<Record<string, string>> } };
    readonly data: readonly { readonly secretKey: string }[];
  };
};

type SecretKey = { readonly name: string; readonly key: string };

const textOf = (path: string): string => readFileSync(join(chartsFolder, path), 'utf8');

const secrets = parseAllDocuments(textOf('tonplane/integrations/external-secrets.yaml')).map(
  (document) => document.toJS() as ExternalSecret,
);

/** Keys of the Secret that external-secrets makes: those of the template, else one for each value of the store. */
const keysOf = ({ spec: { target, data } }: ExternalSecret): readonly string[] =>
  target.template === undefined ? data.map(({ secretKey }) => secretKey) : Object.keys(target.template.data);

/** Keys of Secrets that any field of a manifest names. */
function secretKeysIn(value: unknown): SecretKey[] {
  if (typeof value !== 'object' || value === null) return [];
  const { secretRef, ...others } = value as { readonly secretRef?: SecretKey };
  return [...(secretRef === undefined ? [] : [secretRef]), ...Object.values(others).flatMap(secretKeysIn)];
}

/** The TonApi of a file of values, with the defaults of its definition. */
function tonApiOf(values: string): TonApi {
  const { name, spec } = parse(textOf(values)) as { readonly name: string; readonly spec: object };
  const resource = { apiVersion: 'tonplane.dev/v1beta1', kind: 'TonApi', metadata: { name } };
  return readManifest(stringify({ ...resource, spec: { liteServerConfigRef: { name: 'config' }, ...spec } })).tonApi;
}

describe('the sample for external-secrets', () => {
  it('makes every Secret, with its keys, that the values of an RDS name', () => {
    const made = secrets.flatMap((secret) => keysOf(secret).map((key) => ({ name: secret.spec.target.name, key })));
    const wanted = secretKeysIn(tonApiOf('tonapi/ci/rds-values.yaml').spec);
    expect(wanted).toHaveLength(3);
    expect(made).toEqual(expect.arrayContaining(wanted.map(({ name, key }) => ({ name, key }))));
  });

  it('uses in its templates only values that it reads from the store', () => {
    for (const { spec } of secrets) {
      const read = spec.data.map(({ secretKey }) => secretKey);
      const used = [...JSON.stringify(spec.target.template ?? {}).matchAll(/\{\{ \.(\w+) \}\}/g)].map(
        ([, name]) => name,
      );
      expect(read).toEqual(expect.arrayContaining(used));
    }
  });
});

it('the page of secrets has the default key of every Secret that a manifest may name', () => {
  const page = textOf('docs/secrets.md');
  const keyOf = (path: string): string | undefined =>
    new RegExp(`^\\| \\**\`${path}\`\\** \\|[^|]*\\| \`([^\`]+)\``, 'm').exec(textOf('../crds/README.md'))?.[1];
  for (const field of ['rateLimits.redis.secretRef', 'postgres.secretRef']) {
    expect(page).toMatch(new RegExp(`^\\| \`${field}\`.*\\| \`${keyOf(`${field}.key`)}\` \\|`, 'm'));
  }
  const parts = ['host', 'port', 'database', 'user', 'password'].map((part) =>
    keyOf(`postgres.parts.${part}.secretRef.key`),
  );
  expect(page).toContain(`| \`postgres.parts\` | ${parts.map((key) => `\`${key}\``).join(', ')} |`);
});
