import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { makeRelease } from '#charts/release.ts';
import { definitions } from '#test/support/crds.ts';
import { createHelm, withoutHelm } from '#test/support/helm.ts';
import { projectRoot } from '#test/style/sources.ts';

const run = promisify(execFile);
const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string };
const commit = { id: '0123456789abcdef0123456789abcdef01234567', time: 1_795_000_000 };
const artefacts = [
  'Dockerfile',
  'crds.yaml',
  'provenance.json',
  'sbom.cdx.json',
  `tonapi-${version}.tgz`,
  `tonplane-${version}.tgz`,
];

describe.skipIf(withoutHelm('the artefacts of a release'))('npm run release', () => {
  const base = mkdtempSync(join(tmpdir(), 'tonplane-release-'));
  const [first, second] = [join(base, 'first'), join(base, 'second')];
  const helm = createHelm();
  const text = (name: string): string => readFileSync(join(first, name), 'utf8');

  beforeAll(async () => {
    const options = { helm: helm.program, commit, builder: 'https://ci.test/pipeline' };
    await makeRelease({ ...options, folder: first });
    // Helm and npm write the present time in whole seconds.
    const { mtimeMs } = statSync(join(first, 'provenance.json'));
    const isLater = () => Math.floor(Date.now() / 1000) > Math.floor(mtimeMs / 1000) + 1;
    await vi.waitUntil(isLater, { timeout: 60_000 });
    await makeRelease({ ...options, folder: second });
  });
  afterAll(() => {
    helm.close();
    rmSync(base, { recursive: true });
  });

  it('gives the same bytes for the same commit at another time in another folder', () => {
    expect(readdirSync(second).toSorted()).toEqual([...artefacts, 'SHA256SUMS'].toSorted());
    for (const name of readdirSync(first)) {
      expect([name, readFileSync(join(second, name)).equals(readFileSync(join(first, name)))]).toEqual([name, true]);
    }
  });

  it('has checksums of every artefact, which sha256sum confirms, and denies after a change', async () => {
    const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: first });
    expect(stdout.trim().split('\n').toSorted()).toEqual(artefacts.map((name) => `${name}: OK`).toSorted());
    writeFileSync(join(second, 'crds.yaml'), 'changed');
    await expect(run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: second })).rejects.toThrow(
      '1 computed checksum did NOT match',
    );
  });

  it('has packages of both charts that Helm renders, at the version of the release', async () => {
    for (const chart of ['tonplane', 'tonapi']) {
      const file = join(first, `${chart}-${version}.tgz`);
      expect(await helm.run('show', 'chart', file)).toContain(`appVersion: ${version}`);
    }
    const rendered = await helm.run('template', 'x', join(first, `tonplane-${version}.tgz`));
    expect(rendered).toBe(await helm.run('template', 'x', join(projectRoot, 'charts/tonplane')));
  });

  it('has a bundle with both definitions', () => {
    const bundle = parseAllDocuments(text('crds.yaml')) as { toJS(): unknown }[];
    expect(bundle.map((document) => document.toJS())).toEqual(definitions);
  });

  it('has a statement of provenance about every artefact: commit, programs, base image and what went in', () => {
    const statement = JSON.parse(text('provenance.json')) as {
      subject: { name: string; digest: { sha256: string } }[];
      predicate: { buildDefinition: { resolvedDependencies: object[] } };
    };
    const sums = text('SHA256SUMS');
    expect(statement.subject.map(({ name }) => name)).toEqual(artefacts.filter((name) => name !== 'provenance.json'));
    for (const { name, digest } of statement.subject) expect(sums).toContain(`${digest.sha256}  ${name}\n`);
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: { internalParameters: { node: process.versions.node, helm: expect.stringMatching(/^v3/) } },
        runDetails: {
          builder: { id: 'https://ci.test/pipeline' },
          metadata: { startedOn: '2026-11-18T11:06:40.000Z' },
        },
      },
    });
    const { resolvedDependencies } = statement.predicate.buildDefinition;
    expect(resolvedDependencies).toContainEqual({ name: 'source', digest: { gitCommit: commit.id } });
    const [, uri, sha256] = /^ARG BASE=(\S+)@sha256:(\w+)$/m.exec(text('Dockerfile')) ?? [];
    expect(resolvedDependencies).toContainEqual({ uri: `docker://${uri}`, digest: { sha256 } });
  });

  it('has a bill of materials that names the release, not the folder that it was made in', () => {
    const bill = JSON.parse(text('sbom.cdx.json')) as { components: unknown[] };
    expect(bill).toMatchObject({ metadata: { component: { name: 'tonplane', version } } });
    expect(bill.components.length).toBeGreaterThan(100);
  });

  it('without Helm says what it expected', async () => {
    const options = { folder: join(base, 'third'), helm: '/nowhere/helm', commit, builder: 'x' };
    await expect(makeRelease(options)).rejects.toThrow('release: expected Helm 3 in the PATH or by --helm FILE');
  });
});
