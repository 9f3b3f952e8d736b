import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { projectRoot } from '#test/style/sources.ts';
import type { ControlPlane } from '#test/support/control-plane.ts';
import { freePort } from '#service/main/postgres/free-port.ts';

/** The bundled operator as a process of its own, as its image runs it. */
export type OperatorProcess = {
  /** Resident memory, MB. */
  rssMb(): number;
  /** CPU time so far, s. */
  cpuSeconds(): number;
  /** The sum of a counter's series, of those that have the label if one is given (`result="ok"`). */
  metric(name: string, label?: string): Promise<number>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
};

/** Clock ticks of a second in /proc (`getconf CLK_TCK`), the same on every Linux that runs here. */
const ticksPerSecond = 100;

/** As the Dockerfile has them, for a memory limit of 256 MB. */
const imageFlags = ['--max-semi-space-size=4', '--max-old-space-size=192'];

const startTimeoutMs = 60_000;

export async function startOperatorProcess(plane: ControlPlane, identity: string): Promise<OperatorProcess> {
  const [metricsPort, healthPort] = [await freePort(), await freePort()];
  const args = ['--kubeconfig', plane.kubeconfigPath, '--host', '127.0.0.1', '--log-level', 'error'];
  const ports = ['--metrics-port', `${metricsPort}`, '--health-port', `${healthPort}`];
  const program = [...imageFlags, join(projectRoot, 'dist/operator.js')];
  const child: ChildProcess = spawn(process.execPath, [...program, ...args, ...ports], {
    env: { ...process.env, POD_NAME: identity, POD_NAMESPACE: 'default' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const deadline = Date.now() + startTimeoutMs;
  while (!(await isReady(healthPort))) {
    if (Date.now() > deadline) throw new Error('the operator did not become ready');
    await sleep(50);
  }
  const stat = (): string[] => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return {
    rssMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    cpuSeconds: () => (Number(stat()[11]) + Number(stat()[12])) / ticksPerSecond,
    async metric(name, label = '') {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const named = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      const lines = named.filter((line) => line.includes(label));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
    signal: (signal) => void child.kill(signal),
    ended,
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  } catch {
    return false;
  }
}
