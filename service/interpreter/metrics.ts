import { Counter, type Registry } from 'prom-client';

import type { InterpretedCounts } from './interpretation.ts';
import type { InterpreterProgressView } from './progress.ts';
import type { Stage } from './retrying.ts';
import { registerReadGauge } from '../telemetry/read-gauge.ts';

export type InterpreterMetrics = {
  /** Committed to Postgres. */
  readonly written: (blocks: number, counts: InterpretedCounts) => void;
  readonly retried: (stage: Stage) => void;
  readonly fellBack: () => void;
  readonly gaveUp: () => void;
  readonly lost: (blocks: number) => void;
  readonly putAside: () => void;
  readonly stored: (traces: number) => void;
  readonly notStored: () => void;
};

export function createInterpreterMetrics(register: Registry, view: () => InterpreterProgressView): InterpreterMetrics {
  const registers = [register];
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  registerReadGauge(
    register,
    'ton_interpreter_remaining_blocks',
    'Masterchain blocks to interpret, first or again for a newer version, in all processes',
    () => view().remainingBlocks,
  );
  const blocks = counter(
    'ton_interpreter_blocks_total',
    'Masterchain blocks whose contracts, transfers and actions were committed to Postgres',
  );
  const transactions = counter('ton_interpreter_transactions_total', 'Transactions of interpreted blocks');
  const traces = counter('ton_interpreter_traces_total', 'Complete traces that were classified');
  const actions = counter('ton_interpreter_actions_total', 'Actions of classified traces');
  const fallbacks = counter(
    'ton_interpreter_fallbacks_total',
    'Accounts examined in their newest state, because no lite server has the state of their block',
  );
  const givenUp = counter(
    'ton_interpreter_given_up_total',
    'Accounts that could not be examined; the index has no interfaces of them',
  );
  const lost = counter(
    'ton_interpreter_lost_blocks_total',
    'Masterchain blocks interpreted in vain: they got further traces, or another process interpreted them too',
  );
  const aside = counter(
    'ton_interpreter_put_aside_total',
    'Masterchain blocks that could not be interpreted; they are tried again later',
  );
  const stored = counter('ton_interpreter_stored_traces_total', 'Complete traces stored in rendered form');
  const failures = counter(
    'ton_interpreter_stored_traces_failures_total',
    'Failures to store rendered traces; such a trace is rendered at each request',
  );
  const retries = new Counter({
    name: 'ton_interpreter_retries_total',
    help: 'Failures after which work is tried again, by stage',
    labelNames: ['stage'],
    registers,
  });
  return {
    written(count, counts) {
      blocks.inc(count);
      transactions.inc(counts.transactions);
      traces.inc(counts.traces);
      actions.inc(counts.actions);
    },
    retried: (stage) => retries.inc({ stage }),
    fellBack: () => fallbacks.inc(),
    gaveUp: () => givenUp.inc(),
    lost: (count) => lost.inc(count),
    putAside: () => aside.inc(),
    stored: (count) => stored.inc(count),
    notStored: () => failures.inc(),
  };
}
