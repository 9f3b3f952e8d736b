import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { parse } from 'yaml';

import { optionalKinds, type OptionalKind } from '#operator/kubernetes/resources.ts';

import { cachePath } from './cache.ts';
import type { ClusterObject } from './cluster-client.ts';
import { whyNoGo } from './go-build.ts';
import { skipLoudly } from './skips.ts';

/** Kinds of neighbours: those that the operator makes, and those of samples in the papers. */
type NeighbourKind = OptionalKind | 'ExternalSecret';

/** A release of a neighbour: its Go module, the checksum that the module must have, and definitions by kind. */
type Release = {
  readonly module: string;
  readonly version: string;
  readonly sum: string;
  readonly files: Readonly<Partial<Record<NeighbourKind, string>>>;
};

const monitoring = 'example/prometheus-operator-crd/monitoring.coreos.com';

const releases: readonly Release[] = [
  {
    module: 'sigs.k8s.io/gateway-api',
    version: 'v1.6.3',
    sum: 'h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=',
    files: { HTTPRoute: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml' },
  },
  {
    module: 'github.com/kedacore/keda/v2',
    version: 'v2.21.0',
    sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
    files: { ScaledObject: 'config/crd/bases/keda.sh_scaledobjects.yaml' },
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: {
      ServiceMonitor: `${monitoring}_servicemonitors.yaml`,
      PrometheusRule: `${monitoring}_prometheusrules.yaml`,
      Probe: `${monitoring}_probes.yaml`,
    },
  },
  {
    module: 'github.com/external-secrets/external-secrets',
    version: 'v0.19.2',
    sum: 'h1:bdOpEt9Pww2e8QGh4apX7M0nehwNOVAQJLd8z6hAXWI=',
    files: { ExternalSecret: 'config/crds/bases/external-secrets.io_externalsecrets.yaml' },
  },
];

/** The archive of a module is tens of MB, and the module proxy may be slow. */
const downloadTimeoutMs = 300_000;

/**
 * Copies the definitions out of the neighbours' Go modules where the cache has none and Go is there. One neighbour does not wait for another.
 *
 * @throws AggregateError with the failures
 */
export async function prepareOptionalApis(): Promise<void> {
  if (whyNoGo() !== undefined) return;
  const absent = releases.filter((release) => !isPresent(release));
  const made = await Promise.allSettled(absent.map(extract));
  const failures = made.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
}

/** For `skipIf`: true, after a line on standard error, where the definition of a kind is missing. */
export function withoutOptionalApis(what: string, kinds: readonly NeighbourKind[] = optionalKinds): boolean {
  const missing = releases
    .filter((release) => kinds.some((kind) => kind in release.files) && !isPresent(release))
    .map(({ module }) => module);
  return skipLoudly(missing.length > 0, { what, why: `no ${missing.join(', ')}: ${whyNoGo() ?? 'not downloaded'}` });
}

/** The neighbour's own definition of a kind. @throws Error where the cache has none */
export function optionalDefinition(kind: NeighbourKind): ClusterObject {
  const release = releases.find(({ files }) => kind in files);
  if (release === undefined) throw new Error(`${kind}: no release of a neighbour defines it`);
  return parse(readFileSync(pathOf(release, kind), 'utf8')) as ClusterObject;
}

const kindsOf = ({ files }: Release): NeighbourKind[] => Object.keys(files) as NeighbourKind[];
const isPresent = (release: Release): boolean => kindsOf(release).every((kind) => existsSync(pathOf(release, kind)));

function pathOf({ module, version }: Release, kind: string): string {
  return cachePath('optional-apis', `${module.replaceAll('/', '-')}-${version}`, `${kind}.yaml`);
}

/** Folder of the module in Go's own cache. @throws Error for another checksum than the pinned one */
async function download({ module, version, sum }: Release): Promise<string> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', `${module}@${version}`], {
    // A folder without go.mod: only the module itself is downloaded.
    cwd: tmpdir(),
    timeout: downloadTimeoutMs,
  });
  const found = JSON.parse(stdout) as { readonly Dir: string; readonly Sum: string };
  if (found.Sum !== sum) throw new Error(`${module}@${version}: expected checksum ${sum}, got ${found.Sum}`);
  return found.Dir;
}

async function extract(release: Release): Promise<void> {
  process.stderr.write(`${release.module}@${release.version}: downloading, once for this machine\n`);
  const folder = await download(release);
  for (const kind of kindsOf(release)) {
    const path = pathOf(release, kind);
    mkdirSync(dirname(path), { recursive: true });
    const temporary = `${path}.${process.pid}`;
    copyFileSync(join(folder, release.files[kind] ?? ''), temporary);
    // Another process may extract the same file.
    renameSync(temporary, path);
  }
}
