import { Counter, type Registry } from 'prom-client';

import { registerReadGauge } from '../telemetry/read-gauge.ts';

/** How a message was run ahead of the chain, or why its trace went. */
export type EmulationOutcome = 'simulated' | 'rejected' | 'failed';
export type GoneReason = 'indexed' | 'conflict' | 'expired' | 'displaced';

export type PendingMetrics = {
  emulated(outcome: EmulationOutcome): void;
  gone(reason: GoneReason): void;
  takenOver(): void;
  malformed(): void;
};

export function createPendingMetrics(register: Registry, watched: () => number): PendingMetrics {
  const registers = [register];
  const emulations = new Counter({
    name: 'ton_pending_emulations_total',
    help: 'Simulations of sent messages, by outcome: simulated (its trace is pending), rejected (by the contract), failed',
    labelNames: ['outcome'],
    registers,
  });
  const gone = new Counter({
    name: 'ton_pending_gone_total',
    help: 'Sent messages that are no longer watched, by reason: indexed, conflict (a block has another result), expired, displaced (by newer messages)',
    labelNames: ['reason'],
    registers,
  });
  const takenOver = new Counter({
    name: 'ton_pending_taken_over_total',
    help: 'Sent messages taken over from a process that went silent',
    registers,
  });
  const malformed = new Counter({
    name: 'ton_pending_redis_malformed_total',
    help: 'Values of sent messages in Redis of a wrong form, counted as absent',
    registers,
  });
  registerReadGauge(
    register,
    'ton_pending_messages',
    'Messages that this process watches until they are indexed',
    watched,
  );
  return {
    emulated: (outcome) => emulations.inc({ outcome }),
    gone: (reason) => gone.inc({ reason }),
    takenOver: () => takenOver.inc(),
    malformed: () => malformed.inc(),
  };
}
