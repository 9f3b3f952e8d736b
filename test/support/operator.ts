import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { stringify } from 'yaml';

import { startOperator, type Operator } from '#operator/operator.ts';
import { parseOptions } from '#operator/options.ts';
import { fetchFromPod } from '#operator/pod-fetch.ts';

import type { ControlPlane } from './control-plane.ts';
import { onLoopback } from './pod-network.ts';

/**
 * An operator of this process on a control plane, with its metrics. One that loses its Lease, as on a machine that is busy for ten seconds, ends and
 * is started again, as its Deployment would.
 */
export type OperatorUnderTest = Pick<Operator, 'isLeading' | 'close'> & {
  readonly healthPort: number;
  readonly metricsPort: number;
  readonly register: Registry;
  /** Writes to the API server so far, by `kind verb`. */
  writes(): Promise<Readonly<Record<string, number>>>;
};

/** Between two starts of an operator that cannot start. */
const restartMs = 500;

/** A minute is more than a start of the API server takes. */
const restartsMax = 120;

/**
 * Starts the operator as its command line would, on free ports. Logs are shown with `TEST_LOGS`.
 *
 * @param more.token of the one who it is; default: the administrator
 */
export async function startOperatorUnderTest(
  plane: Pick<ControlPlane, 'kubeconfigPath' | 'kubeconfig'>,
  args: readonly string[] = [],
  identity = 'operator-1',
  more: { readonly token?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<OperatorUnderTest> {
  const options = parseOptions(
    [
      '--kubeconfig',
      more.token === undefined ? plane.kubeconfigPath : writeKubeconfig(plane, more.token),
      '--host',
      '127.0.0.1',
      '--metrics-port',
      '0',
      '--health-port',
      '0',
      ...args,
    ],
    { ...more.environment, POD_NAME: identity, POD_NAMESPACE: 'default' },
  );
  const start = async () => {
    const register = new Registry();
    const operator = await startOperator(options, {
      version: '0.1.0',
      commit: 'test',
      logger: pino({ level: process.env['TEST_LOGS'] ?? 'silent' }),
      register,
      fetchPage: (address, ...rest) => fetchFromPod(onLoopback(address), ...rest),
    });
    return { operator, register };
  };
  let current = await start();
  let closed = false;
  const supervise = async (): Promise<void> => {
    await current.operator.lost;
    if (closed) return;
    await current.operator.close();
    // An API server that has just started refuses the first requests: a Deployment would try again as well.
    for (let tries = 1; ; tries += 1) {
      try {
        current = await start();
        break;
      } catch (error) {
        if (closed || tries === restartsMax) throw error;
        await sleep(restartMs);
      }
    }
    if (closed) await current.operator.close();
    else void supervise();
  };
  void supervise();
  return {
    get healthPort() {
      return current.operator.healthPort;
    },
    get metricsPort() {
      return current.operator.metricsPort;
    },
    get register() {
      return current.register;
    },
    isLeading: () => current.operator.isLeading(),
    async close() {
      closed = true;
      await current.operator.close();
    },
    async writes() {
      const metric = await current.register.getSingleMetric('ton_operator_writes_total')?.get();
      return Object.fromEntries(
        (metric?.values ?? []).map(({ labels, value }) => [`${labels['kind']} ${labels['verb']}`, value]),
      );
    },
  };
}

/** A kubeconfig file for the one whose token it is. */
export function writeKubeconfig({ kubeconfig }: Pick<ControlPlane, 'kubeconfig'>, token: string): string {
  const users = kubeconfig.users.map(({ name }) => ({ name, user: { token } }));
  const file = join(mkdtempSync(join(tmpdir(), 'tonplane-operator-')), 'kubeconfig');
  writeFileSync(file, stringify({ ...kubeconfig, users }), { mode: 0o600 });
  return file;
}
