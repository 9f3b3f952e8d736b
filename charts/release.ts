import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';

import { parseCommandLine } from '#service/config/command-line.ts';
import packageFile from '../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '..');

/** Charts of a release. */
const charts = ['tonplane', 'tonapi'] as const;

/** Definitions in the order of the bundle. */
const definitions = ['tonapis', 'tonapikeys'] as const;

/** Stage of the Dockerfile of each image, by its repository. */
const images = [
  { repository: 'tonplane/operator', target: 'operator' },
  { repository: 'tonplane/service', target: 'service' },
] as const;

/** Builder of a release that a person makes in a checkout. A pipeline names its own. */
const CHECKOUT = 'https://tonplane.dev/builders/checkout';

/** Largest output of a program: a bill of materials is less than 1 MB. */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** Commit of the sources, and its time in Unix seconds. */
type Commit = { readonly id: string; readonly time: number };

type ReleaseOptions = {
  /** Folder of the artefacts; made again. */
  readonly folder: string;
  /** Program of Helm 3. */
  readonly helm: string;
  readonly commit: Commit;
  /** URI of the builder that the provenance names. */
  readonly builder: string;
};

/** Digest of a file, by its name. */
type Digest = { readonly name: string; readonly sha256: string };

/**
 * Makes the artefacts of a release from the sources, without the network. The same commit and tools give the same bytes:
 * every time in an artefact is that of the commit.
 *
 * @returns names of the artefacts
 * @throws when Helm is absent
 */
export async function makeRelease({ folder, helm, commit, builder }: ReleaseOptions): Promise<readonly string[]> {
  const helmVersion = await versionOf(helm);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await packageCharts(folder, helm, commit.time);
  await cp(join(root, 'Dockerfile'), join(folder, 'Dockerfile'));
  await writeFile(join(folder, 'crds.yaml'), await definitionBundle());
  await writeFile(join(folder, 'sbom.cdx.json'), await billOfMaterials(commit));
  const names = [...charts.map(packageName), 'Dockerfile', 'crds.yaml', 'sbom.cdx.json'].toSorted();
  const subjects = await Promise.all(names.map((name) => digestOf(folder, name)));
  const statement = await provenance(subjects, { commit, builder, helmVersion });
  await writeFile(join(folder, 'provenance.json'), `${JSON.stringify(statement, null, 2)}\n`);
  const listed = [...subjects, await digestOf(folder, 'provenance.json')];
  await writeFile(join(folder, 'SHA256SUMS'), listed.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
  return [...listed.map(({ name }) => name), 'SHA256SUMS'];
}

/** @throws when the checkout has changes that no commit has */
async function commitOf(): Promise<Commit> {
  const changes = await run('git', ['status', '--porcelain']);
  if (changes !== '') throw new Error(`release: expected a checkout without changes, got\n${changes}`);
  const [id = '', time = ''] = (await run('git', ['log', '-1', '--format=%H %ct'])).trim().split(' ');
  return { id, time: Number(time) };
}

async function versionOf(helm: string): Promise<string> {
  try {
    return (await run(helm, ['version', '--short'])).trim();
  } catch (cause) {
    const message = `release: expected Helm 3 in the PATH or by --helm FILE, got ${(cause as Error).message}`;
    throw new Error(message, { cause });
  }
}

const packageName = (chart: string): string => `${chart}-${packageFile.version}.tgz`;

/** Helm writes the time of the packaging into the archive. The archive is written again with the time of the commit. */
async function packageCharts(folder: string, helm: string, time: number): Promise<void> {
  for (const chart of charts) {
    await run(helm, ['package', join(root, 'charts', chart), '--destination', folder]);
    const path = join(folder, packageName(chart));
    await writeFile(path, gzipSync(withTime(gunzipSync(await readFile(path)), time), { level: 9 }));
    await utimes(path, time, time);
  }
}

/** Length of a header and of a unit of content in a tar archive. */
const BLOCK_BYTES = 512;

/** Returns the archive with one time for all its files (POSIX ustar: time at 136, checksum at 148, both octal). */
export function withTime(archive: Buffer, time: number): Buffer {
  const copy = Buffer.from(archive);
  for (let at = 0; at + BLOCK_BYTES <= copy.length && copy[at] !== 0;) {
    const header = copy.subarray(at, at + BLOCK_BYTES);
    const bytes = Number.parseInt(header.toString('latin1', 124, 135), 8);
    header.write(`${time.toString(8).padStart(11, '0')}\0`, 136, 'latin1');
    header.write('        ', 148, 'latin1');
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    at += BLOCK_BYTES * (1 + Math.ceil(bytes / BLOCK_BYTES));
  }
  return copy;
}

async function definitionBundle(): Promise<string> {
  const texts = await Promise.all(
    definitions.map((plural) => readFile(join(root, `crds/${plural}.tonplane.dev.yaml`), 'utf8')),
  );
  return texts.map((text) => `---\n${text.replace(/^---\n/, '')}`).join('');
}

/** The bill names its maker's folder, a random number and a time: the release has the package, the commit and its time. */
async function billOfMaterials({ id, time }: Commit): Promise<string> {
  const text = await run('npm', [
    'sbom',
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--package-lock-only',
  ]);
  const bill = JSON.parse(text) as {
    serialNumber: string;
    metadata: { timestamp: string; component: { name: string } };
  };
  bill.serialNumber = `urn:uuid:${uuidOf(id)}`;
  bill.metadata.timestamp = new Date(time * 1000).toISOString();
  bill.metadata.component.name = packageFile.name;
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** A UUID of version 8 (RFC 9562: bits of one's own choice) from a text. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Files whose content decides the artefacts and images, besides the commit. */
const inputs = ['package.json', 'package-lock.json', 'Dockerfile'] as const;

/** An in-toto statement with SLSA provenance (slsa.dev/provenance/v1). It is unsigned: a pipeline signs it. */
async function provenance(
  subjects: readonly Digest[],
  facts: { readonly commit: Commit; readonly builder: string; readonly helmVersion: string },
): Promise<object> {
  const { id, time } = facts.commit;
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  const [, base = '', digest = ''] = /^ARG BASE=(\S+)@sha256:([0-9a-f]{64})$/m.exec(dockerfile) ?? [];
  const read = await Promise.all(inputs.map((name) => digestOf(root, name)));
  const at = new Date(time * 1000).toISOString();
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://tonplane.dev/release/v1',
        externalParameters: { version: packageFile.version, images },
        internalParameters: { node: process.versions.node, helm: facts.helmVersion },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: id } },
          ...read.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
          { uri: `docker://${base}`, digest: { sha256: digest } },
        ],
      },
      runDetails: {
        builder: { id: facts.builder },
        metadata: { invocationId: id, startedOn: at, finishedOn: at },
      },
    },
  };
}

async function digestOf(folder: string, name: string): Promise<Digest> {
  const sha256 = createHash('sha256')
    .update(await readFile(join(folder, name)))
    .digest('hex');
  return { name, sha256 };
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: root, maxBuffer: OUTPUT_BYTES_MAX });
  return stdout;
}

const usage = `npm run release -- [--folder FOLDER] [--helm PROGRAM] [--builder URI]

Makes the charts, definitions, bill of materials and provenance of a release.
  --folder FOLDER  folder of the artefacts, made again; dist/release-VERSION by default
  --helm PROGRAM   Helm 3; helm by default
  --builder URI    builder that the provenance names
`;

async function main(): Promise<void> {
  const { values } = parseCommandLine(
    {
      options: {
        folder: { type: 'string' },
        helm: { type: 'string', default: 'helm' },
        builder: { type: 'string', default: CHECKOUT },
        help: { type: 'boolean' },
      },
    },
    (message) => new Error(message),
  );
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  const folder = resolve(values.folder ?? join(root, `dist/release-${packageFile.version}`));
  const names = await makeRelease({ folder, helm: values.helm, builder: values.builder, commit: await commitOf() });
  process.stdout.write(names.map((name) => `${relative(process.cwd(), join(folder, name))}\n`).join(''));
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  });
}
