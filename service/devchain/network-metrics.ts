import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

import type { ExternalOutcome } from './collator/external-message.ts';
import type { Step } from './production/live-chain.ts';
import { registerReadGauge } from '../telemetry/read-gauge.ts';

/** Loaded part of a stored network; the terminal shows it too. */
export const loadedMetric = 'ton_devchain_loaded_ratio';

export type NetworkMetrics = {
  /** Starts the clock of a step. The returned function records the result. */
  time(): (step: Step) => void;
  /** Sets the loaded part of the stored network, 0 to 1. */
  loaded(part: number): void;
};

/** Metrics of a network that makes its own blocks. */
export function createNetworkMetrics(register: Registry, waiting: () => number): NetworkMetrics {
  const registers = [register];
  const seconds = new Histogram({
    name: 'ton_devchain_step_seconds',
    help: 'Time to make the blocks of all chains up to the next masterchain block',
    // An empty step takes some 10 ms, 1,000 transactions a few seconds. 0.4 s is the shortest time between blocks.
    buckets: [0.01, 0.03, 0.1, 0.2, 0.4, 1, 3, 10],
    registers,
  });
  const blocks = new Counter({
    name: 'ton_devchain_blocks_total',
    help: 'Masterchain blocks that the private network made since the start',
    registers,
  });
  const transactions = new Counter({
    name: 'ton_devchain_transactions_total',
    help: 'Transactions in the blocks of the private network',
    registers,
  });
  const messages = new Counter<'outcome'>({
    name: 'ton_devchain_messages_total',
    help: 'Messages from outside that a block accepted or refused',
    labelNames: ['outcome'],
    registers,
  });
  const loaded = new Gauge({
    name: loadedMetric,
    help: 'Loaded part of the stored private network; 1 when the network runs',
    registers,
  });
  registerReadGauge(register, 'ton_devchain_waiting_messages', 'Messages from outside that wait for a block', waiting);
  return {
    time() {
      const stop = seconds.startTimer();
      return (step) => {
        stop();
        blocks.inc();
        transactions.inc(step.transactions);
        for (const { kind } of step.externals.values())
          messages.inc({ outcome: kind satisfies ExternalOutcome['kind'] });
      };
    },
    loaded: (part) => loaded.set(part),
  };
}
