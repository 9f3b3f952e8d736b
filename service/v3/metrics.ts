import { Gauge, type Registry } from 'prom-client';

/** What gauges read when they are collected. */
export type V3Readings = {
  /** Of answers that are made now. */
  readonly rows: () => number;
  /** Requests that wait until there is room for theirs. */
  readonly waiting: () => number;
};

export function createV3Metrics(register: Registry, readings: V3Readings): void {
  const registers = [register];
  const rows: Gauge = new Gauge({
    name: 'ton_v3_rows_in_work',
    help: 'Rows, most of them transactions, that answers are made of now, as far as callers asked for them',
    registers,
    collect: () => rows.set(readings.rows()),
  });
  const waiting: Gauge = new Gauge({
    name: 'ton_v3_requests_waiting',
    help: 'Requests that wait until the rows in work are fewer',
    registers,
    collect: () => waiting.set(readings.waiting()),
  });
}
