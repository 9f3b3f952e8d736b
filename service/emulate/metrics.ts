import { Counter, type Registry } from 'prom-client';

import { registerReadGauge } from '../telemetry/read-gauge.ts';

/**
 * Result of a run. `rejected`: by the contract of the account. `refused`: a fault of the request. `timeout`: the thread time or the time of a run
 * ended. `failed`: every other error.
 */
export type RunOutcome = 'whole' | 'incomplete' | 'rejected' | 'refused' | 'timeout' | 'failed';

export type EmulateMetrics = {
  ran(outcome: RunOutcome): void;
  simulated(transactions: number): void;
};

/** @param slots read when metrics are collected */
export function createEmulateMetrics(
  register: Registry,
  slots: Readonly<Record<'running' | 'waiting' | 'paused', () => number>>,
): EmulateMetrics {
  const registers = [register];
  const runs = new Counter({
    name: 'ton_emulate_runs_total',
    help: 'Emulated messages, by outcome: whole, incomplete (a bound was met), rejected (by the contract), refused (a fault of the request), timeout (of its thread time or of a run), failed',
    labelNames: ['outcome'],
    registers,
  });
  const transactions = new Counter({
    name: 'ton_emulate_transactions_total',
    help: 'Transactions of emulated traces',
    registers,
  });
  registerReadGauge(register, 'ton_emulate_running', 'Emulations in progress', slots.running);
  registerReadGauge(register, 'ton_emulate_waiting', 'Requests that wait for a slot of the emulation', slots.waiting);
  registerReadGauge(
    register,
    'ton_emulate_paused',
    'Large emulations in progress that wait for others to end',
    slots.paused,
  );
  return { ran: (outcome) => runs.inc({ outcome }), simulated: (count) => transactions.inc(count) };
}
