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

/** Panels of the configuration in the dashboard of a TonApi. */
export const configurationPanels = [
  {
    row: 'Callers',
    title: 'Configurations in force',
    description: '1 when all pods agree',
    kind: 'stat',
    queries: { '': 'count(count by (hash) (ton_config_hash{PODS}))' },
  },
  {
    row: 'Pods',
    title: 'Configuration',
    description: 'Changes of files, by result',
    queries: { '{{result}}': 'sum by (result) (increase(ton_config_reloads_total{PODS}[RATE]))' },
  },
] as const;
