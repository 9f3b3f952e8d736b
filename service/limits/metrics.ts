import { Counter, Gauge, type Registry } from 'prom-client';

import type { RefusalCode } from './limits.ts';
import type { Shortage } from './budget.ts';

/** Result of one decision; `rate_limited` is told apart by what ran short. */
export type DecisionResult =
  | 'allowed'
  | Exclude<RefusalCode, 'rate_limited' | 'limits_unavailable'>
  | Shortage['reason'];

/** By plan, never by key or address: their number has no bound. */
export function createLimitsMetrics(
  register: Registry,
  sizes: { readonly keys: () => number; readonly addresses: () => number },
) {
  const decisions = new Counter({
    name: 'ton_limits_decisions_total',
    help: 'Decisions on requests by plan (none where no plan applies) and result',
    labelNames: ['plan', 'result'],
    registers: [register],
  });
  register.registerMetric(sizeGauge('ton_limits_keys', 'Keys in the keyring', sizes.keys));
  register.registerMetric(
    sizeGauge('ton_limits_addresses', 'Client addresses whose budget is remembered', sizes.addresses),
  );
  const counters = new Map<string, { inc(): void }>();
  return {
    /** Child counters are kept: looking labels up costs more than the decision itself. */
    count(plan: string | null, result: DecisionResult | RefusalCode): void {
      const name = `${result} ${plan ?? 'none'}`;
      let counter = counters.get(name);
      if (counter === undefined) {
        counter = decisions.labels(plan ?? 'none', result);
        counters.set(name, counter);
      }
      counter.inc();
    },
  };
}

function sizeGauge(name: string, help: string, read: () => number): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read());
    },
  });
}
