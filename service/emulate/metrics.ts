import { Counter, Gauge, type Registry } from 'prom-client';

/** Result of a run. `rejected`: by the contract of the account. `refused`: a fault of the request. `failed`: every other error. */
export type RunOutcome = 'whole' | 'incomplete' | 'rejected' | 'refused' | 'failed';

export type EmulateMetrics = {
  ran(outcome: RunOutcome): void;
  simulated(transactions: number): void;
};

/** @param slots read when metrics are collected: runs in progress, and requests that wait for a slot */
export function createEmulateMetrics(
  register: Registry,
  slots: { readonly running: () => number; readonly waiting: () => number },
): EmulateMetrics {
  const registers = [register];
  const runs = new Counter({
    name: 'ton_emulate_runs_total',
    help: 'Emulated messages, by outcome: whole, incomplete (a bound was met), rejected (by the contract), refused (a fault of the request), failed',
    labelNames: ['outcome'],
    registers,
  });
  const transactions = new Counter({
    name: 'ton_emulate_transactions_total',
    help: 'Transactions of emulated traces',
    registers,
  });
  const running: Gauge = new Gauge({
    name: 'ton_emulate_running',
    help: 'Emulations in progress',
    registers,
    collect: (): void => running.set(slots.running()),
  });
  const waiting: Gauge = new Gauge({
    name: 'ton_emulate_waiting',
    help: 'Requests that wait for a slot of the emulation',
    registers,
    collect: (): void => waiting.set(slots.waiting()),
  });
  return { ran: (outcome) => runs.inc({ outcome }), simulated: (count) => transactions.inc(count) };
}
