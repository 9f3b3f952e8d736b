import { Counter, Gauge, type Registry } from 'prom-client';

/** How a message was run ahead of the chain, or why its trace went. */
export type EmulationOutcome = 'foreseen' | 'rejected' | 'failed';
export type GoneReason = 'indexed' | 'conflict' | 'expired' | 'displaced';

export type PendingMetrics = {
  emulated(outcome: EmulationOutcome): void;
  gone(reason: GoneReason): void;
};

export function createPendingMetrics(register: Registry, watched: () => number): PendingMetrics {
  const registers = [register];
  const emulations = new Counter({
    name: 'ton_pending_emulations_total',
    help: 'Runs of sent messages ahead of the chain, by what came of them',
    labelNames: ['outcome'],
    registers,
  });
  const gone = new Counter({
    name: 'ton_pending_gone_total',
    help: 'Sent messages no longer watched, by why',
    labelNames: ['reason'],
    registers,
  });
  register.registerMetric(
    new Gauge({
      name: 'ton_pending_messages',
      help: 'Messages sent through this process that are watched until they are indexed',
      registers: [],
      collect() {
        this.set(watched());
      },
    }),
  );
  return {
    emulated: (outcome) => emulations.inc({ outcome }),
    gone: (reason) => gone.inc({ reason }),
  };
}
