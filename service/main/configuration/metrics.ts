import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of the followed configuration files. */
export function createReloadMetrics(register: Registry) {
  const reloads = new Counter({
    name: 'ton_config_reloads_total',
    help: 'Changes of the configuration files, by result: applied, or refused (the earlier configuration stays)',
    labelNames: ['result'],
    registers: [register],
  });
  const info = new Gauge({
    name: 'ton_config_hash',
    help: 'Always 1; the label is the hash of the hot configuration in force',
    labelNames: ['hash'],
    registers: [register],
  });
  return {
    inForce(hash: string): void {
      info.reset();
      info.set({ hash }, 1);
    },
    applied: () => reloads.inc({ result: 'applied' }),
    refused: () => reloads.inc({ result: 'refused' }),
  };
}
