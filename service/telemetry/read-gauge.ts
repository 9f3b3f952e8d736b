import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge whose value is read when metrics are collected. A gauge whose reading is undefined is not exported. */
export function registerReadGauge(
  register: Registry,
  name: string,
  help: string,
  read: () => number | undefined,
): void {
  register.registerMetric(
    new Gauge({
      name,
      help,
      registers: [],
      collect() {
        const value = read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    }),
  );
}
