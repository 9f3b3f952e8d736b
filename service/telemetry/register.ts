import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Identity of the running build, as labels. */
export type BuildInfo = {
  readonly version: string;
  /** Git commit; `unknown` for a build without one. */
  readonly commit: string;
};

/**
 * Creates the process's metric register, with metrics of the process only: CPU, memory, garbage collection, event-loop lag
 * (`nodejs_eventloop_lag_*`), build.
 */
export function createRegister(build: BuildInfo): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const info = new Gauge({
    name: 'ton_build_info',
    help: 'Always 1; the labels say what runs',
    labelNames: ['version', 'commit', 'node'],
    registers: [register],
  });
  info.set({ ...build, node: process.versions.node }, 1);
  return register;
}
