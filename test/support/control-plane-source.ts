import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { parse } from 'yaml';

import { buildGoProgram, programPath, whyNoGo, type GoProgram } from './go-build.ts';
import { skipLoudly } from './skips.ts';

/** How a component is run: a program and the arguments before its flags. */
export type Launch = { readonly program: string; readonly args: readonly string[] };

/** What a control plane can be made of here. */
export type ControlPlaneSource =
  | {
      readonly kind: 'programs';
      readonly etcd: Launch;
      /** Ours knows other flags than etcd's own program. */
      readonly etcdFlags: 'ours' | 'etcd';
      readonly apiServer: Launch;
      /** Undefined where only etcd and the API server are there, as in envtest's folder. */
      readonly controllerManager: Launch | undefined;
      readonly scheduler: Launch | undefined;
    }
  | { readonly kind: 'kubeconfig'; readonly path: string };

const folder = resolve(import.meta.dirname, '../controlplane');

/** The release that test/controlplane/go.mod asks for; without it a client cannot parse the server's version. */
const kubernetesVersion = '1.36.3';

function controlPlaneProgram(): GoProgram {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(folder, file)));
  const [major, minor] = kubernetesVersion.split('.');
  const version = 'k8s.io/component-base/version';
  return {
    name: 'controlplane',
    key: hash.digest('hex').slice(0, 16),
    folder,
    target: '.',
    linkerFlags: `-X ${version}.gitVersion=v${kubernetesVersion} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`,
  };
}

/**
 * Finds what to run, in this order: `KUBECONFIG` (a cluster on loopback; another one only with `TONPLANE_TEST_ON_CLUSTER=yes`,
 * because tests make and delete things there), `KUBEBUILDER_ASSETS` (a folder with `etcd` and `kube-apiserver`), our own
 * program from the cache. With `build` the program is built when the cache has none and Go is there.
 */
export async function findControlPlane(options: { readonly build: boolean }): Promise<ControlPlaneSource | undefined> {
  const given = kubeconfigOf(process.env['KUBECONFIG']);
  if (given !== undefined) return given;
  const assets = assetsOf(process.env['KUBEBUILDER_ASSETS']);
  if (assets !== undefined) return assets;
  const program = controlPlaneProgram();
  const present = existsSync(programPath(program));
  if (!present && (!options.build || whyNoGo() !== undefined)) return undefined;
  const path = await buildGoProgram(program);
  const launch = (component: string): Launch => ({ program: path, args: [component] });
  return {
    kind: 'programs',
    etcd: launch('etcd'),
    etcdFlags: 'ours',
    apiServer: launch('kube-apiserver'),
    controllerManager: launch('kube-controller-manager'),
    scheduler: launch('kube-scheduler'),
  };
}

function assetsOf(assets: string | undefined): ControlPlaneSource | undefined {
  if (assets === undefined || assets === '') return undefined;
  const launch = (name: string): Launch | undefined =>
    existsSync(join(assets, name)) ? { program: join(assets, name), args: [] } : undefined;
  const etcd = launch('etcd');
  const apiServer = launch('kube-apiserver');
  if (etcd === undefined || apiServer === undefined)
    throw new Error(`KUBEBUILDER_ASSETS=${assets} has no etcd and kube-apiserver`);
  return {
    kind: 'programs',
    etcd,
    etcdFlags: 'etcd',
    apiServer,
    controllerManager: launch('kube-controller-manager'),
    scheduler: launch('kube-scheduler'),
  };
}

function kubeconfigOf(path: string | undefined): ControlPlaneSource | undefined {
  if (path === undefined || path === '') return undefined;
  const { clusters } = parse(readFileSync(path, 'utf8')) as { clusters: { cluster: { server: string } }[] };
  const onLoopback = clusters.every(({ cluster }) => /^https:\/\/(127\.|localhost\b|\[::1\])/.test(cluster.server));
  if (onLoopback || process.env['TONPLANE_TEST_ON_CLUSTER'] === 'yes') return { kind: 'kubeconfig', path };
  process.stderr.write(`KUBECONFIG=${path} is not on loopback: left alone (TONPLANE_TEST_ON_CLUSTER=yes uses it)\n`);
  return undefined;
}

/**
 * For `describe.skipIf(await withoutControlPlane('what'))`: true, after saying so loudly, where no control plane is to be
 * had, or not the one that the tests need.
 *
 * @param needs `controllers`: the controller manager and the scheduler too; `ours`: processes that tests may kill
 */
export async function withoutControlPlane(
  what: string,
  ...needs: readonly ('controllers' | 'ours')[]
): Promise<boolean> {
  const source = await findControlPlane({ build: false });
  return skipLoudly(!serves(source, needs), {
    what,
    why: source === undefined ? whyNone() : 'the given one lacks parts',
  });
}

function serves(source: ControlPlaneSource | undefined, needs: readonly string[]): boolean {
  if (source === undefined) return false;
  if (source.kind === 'kubeconfig') return !needs.includes('ours');
  return !needs.includes('controllers') || (source.controllerManager !== undefined && source.scheduler !== undefined);
}

function whyNone(): string {
  return `no control plane: no KUBECONFIG, no KUBEBUILDER_ASSETS, and ${whyNoGo() ?? 'the program is not built yet'}`;
}
