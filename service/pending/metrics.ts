import { Counter, Gauge, type Registry } from 'prom-client';

/** How a message was run ahead of the chain, or why its trace went. */
export type EmulationOutcome = 'foreseen' | 'rejected' | 'failed';
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
  const takenOver = new Counter({
    name: 'ton_pending_taken_over_total',
    help: 'Sent messages taken over from a process that was not heard of any more',
    registers,
  });
  const malformed = new Counter({
    name: 'ton_pending_redis_malformed_total',
    help: 'Values of sent messages in Redis of a form that no pod writes, counted as absent',
    registers,
  });
  register.registerMetric(
    new Gauge({
      name: 'ton_pending_messages',
      help: 'Messages that this process watches until they are indexed',
      registers: [],
      collect() {
        this.set(watched());
      },
    }),
  );
  return {
    emulated: (outcome) => emulations.inc({ outcome }),
    gone: (reason) => gone.inc({ reason }),
    takenOver: () => takenOver.inc(),
    malformed: () => malformed.inc(),
  };
}
