import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import type { TonApi, TonApiKey } from '#operator/resource.ts';
import { projectRoot } from '#test/style/sources.ts';

const names = ['smallest', 'typical', 'full'] as const;
const textOf = (name: string): string => readFileSync(join(projectRoot, `crds/samples/${name}.yaml`), 'utf8');
const documentsOf = (name: string): (TonApi | TonApiKey)[] =>
  parseAllDocuments(textOf(name)).map((document) => document.toJS() as TonApi | TonApiKey);

describe('a sample', () => {
  it('shares the name of a resource with no other sample', () => {
    const resources = names.flatMap(documentsOf).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(resources).size).toBe(resources.length);
  });

  it.each(['smallest', 'typical'])('of %s says how every object is made that it refers to', (name) => {
    const [tonApi] = documentsOf(name) as [TonApi];
    const { liteServerConfigRef, rateLimits, exposure, postgres } = tonApi.spec;
    const wanted = [
      liteServerConfigRef && `kubectl create configmap ${liteServerConfigRef.name} `,
      rateLimits.redis.secretRef && `kubectl create secret generic ${rateLimits.redis.secretRef.name} `,
      exposure?.tlsSecretName && `kubectl create secret tls ${exposure.tlsSecretName} `,
      postgres?.secretRef && `kubectl create secret generic ${postgres.secretRef.name} `,
    ].filter((command) => command !== undefined);
    expect(wanted.length).toBeGreaterThan(0);
    for (const command of wanted) expect(textOf(name)).toContain(command);
  });
});

it('the reference of the custom resources begins with the typical TonApi and every field that it sets', () => {
  const page = readFileSync(join(projectRoot, 'crds/README.md'), 'utf8');
  const [, manifest = '', table = ''] =
    /^## A typical TonApi\n\n```yaml\n([^]*?)```\n\n([^]*?)\n\n## /m.exec(page) ?? [];
  const [tonApi] = documentsOf('typical') as [TonApi];
  expect(parse(manifest)).toEqual(tonApi);
  const fields = [...table.matchAll(/^\| \**`([\w.[\]]+)`/gm)].map(([, field]) => field);
  expect(new Set(fields.map((field) => field?.split(/[.[]/)[0]))).toEqual(new Set(Object.keys(tonApi.spec)));
  expect(page.indexOf('## A typical TonApi')).toBe(page.indexOf('## '));
});

describe('the first steps in a cluster', () => {
  it.each(['README.md', 'charts/tonplane/README.md'])(
    'of %s make what the sample refers to before it is applied',
    (page) => {
      const text = readFileSync(join(projectRoot, page), 'utf8');
      const sample = /crds\/samples\/(\w+)\.yaml\nkubectl get ton/.exec(text)?.[1] ?? '';
      const [tonApi] = documentsOf(sample) as [TonApi];
      const before = text.slice(0, text.indexOf(`crds/samples/${sample}.yaml\nkubectl get ton`));
      expect(before).toContain(`kubectl create configmap ${tonApi.spec.liteServerConfigRef?.name} `);
      expect(tonApi.spec.rateLimits.redis).toEqual({ embedded: true });
    },
  );
});
