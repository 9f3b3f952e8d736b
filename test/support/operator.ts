import { pino } from 'pino';
import { Registry } from 'prom-client';

import { startOperator, type Operator } from '#operator/operator.ts';
import { parseOptions } from '#operator/options.ts';

import type { ControlPlane } from './control-plane.ts';

/** An operator of this process on a control plane, with its metrics. */
export type OperatorUnderTest = Operator & { readonly register: Registry };

/** Starts the operator as its command line would, on free ports. Logs are shown with `TEST_LOGS`. */
export async function startOperatorUnderTest(
  plane: Pick<ControlPlane, 'kubeconfigPath'>,
  args: readonly string[] = [],
  identity = 'operator-1',
): Promise<OperatorUnderTest> {
  const register = new Registry();
  const options = parseOptions(
    ['--kubeconfig', plane.kubeconfigPath, '--host', '127.0.0.1', '--metrics-port', '0', '--health-port', '0', ...args],
    { POD_NAME: identity, POD_NAMESPACE: 'default' },
  );
  const level = process.env['TEST_LOGS'] === undefined ? 'silent' : 'debug';
  const operator = await startOperator(options, {
    version: '0.1.0',
    commit: 'test',
    logger: pino({ level }),
    register,
  });
  return { ...operator, register };
}
