import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { buildGoProgram, programPath, whyNoGo, type GoProgram } from './go-build.ts';
import { skipLoudly } from './skips.ts';

/** Runs the real Helm; its own files are in a folder that goes with it. */
export type Helm = {
  /** Path of the program. */
  readonly program: string;
  /** Standard output. @throws with what Helm said when it fails */
  run(...args: readonly string[]): Promise<string>;
  /** What Helm says as it refuses. @throws when it does not */
  refusal(...args: readonly string[]): Promise<string>;
  close(): void;
};

const folder = resolve(import.meta.dirname, '../helm');
const target = 'helm.sh/helm/v3/cmd/helm';
/** As Helm's own build does it: without them it believes in Kubernetes 1.20 where it has no cluster. */
const linkerFlags = ['helm.sh/helm/v3/pkg/lint/rules', 'helm.sh/helm/v3/pkg/chartutil']
  .flatMap((name) => [`-X ${name}.k8sVersionMajor=1`, `-X ${name}.k8sVersionMinor=36`])
  .join(' ');
/** A rendered chart is a few hundred kB. */
const outputBytesMax = 64 * 1024 * 1024;

function helmProgram(): GoProgram {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(folder, file)));
  hash.update(linkerFlags);
  return { name: 'helm', key: hash.digest('hex').slice(0, 16), folder, target, linkerFlags };
}

/** Builds Helm when the cache has none and Go is there; false when there is no Helm to be had. */
export async function prepareHelm(): Promise<boolean> {
  const program = helmProgram();
  if (!existsSync(programPath(program)) && whyNoGo() !== undefined) return false;
  await buildGoProgram(program);
  return true;
}

/** For `describe.skipIf`: true, after saying so loudly, where there is no Helm. */
export function withoutHelm(what: string): boolean {
  const missing = !existsSync(programPath(helmProgram()));
  return skipLoudly(missing, { what, why: `no helm: ${whyNoGo() ?? 'it is not built yet'}` });
}

/** @param kubeconfig file; undefined for what needs no cluster */
export function createHelm(kubeconfig?: string): Helm {
  const home = mkdtempSync(join(tmpdir(), 'tonplane-helm-'));
  const program = programPath(helmProgram());
  const env = {
    PATH: process.env['PATH'],
    // Helm's client of Kubernetes keeps what it has discovered below it.
    HOME: home,
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
    KUBECONFIG: kubeconfig ?? join(home, 'none'),
  };
  const start = (args: readonly string[]): Promise<{ failed: boolean; stdout: string; all: string }> =>
    new Promise((done) => {
      execFile(program, args, { env, maxBuffer: outputBytesMax }, (error, stdout, stderr) => {
        done({ failed: error !== null, stdout, all: `${stdout}${stderr}` });
      });
    });
  return {
    program,
    async run(...args) {
      const { failed, stdout, all } = await start(args);
      if (failed) throw new Error(`helm ${args.join(' ')}:\n${all}`);
      return stdout;
    },
    async refusal(...args) {
      const { failed, all } = await start(args);
      if (!failed) throw new Error(`helm ${args.join(' ')} was expected to fail:\n${all}`);
      return all;
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}
