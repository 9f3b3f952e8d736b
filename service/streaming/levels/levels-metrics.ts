import { Counter, type Registry } from 'prom-client';

/** Result of adding a record to the shared log. */
export type AppendResult = 'added' | 'equal' | 'outdated' | 'too_large' | 'failed';

export type LevelsMetrics = {
  readonly appended: (result: AppendResult) => void;
  /** @param log that changes go through from now on */
  readonly moved: (log: 'shared' | 'process') => void;
};

export function createLevelsMetrics(register: Registry): LevelsMetrics {
  const appends = new Counter({
    name: 'ton_streaming_levels_appends_total',
    help: 'Changes below finalized for the log that pods share, by result: added, equal (another pod was first), outdated (a withdrawal, and another pod has a newer snapshot), too_large (left out below finalized), failed (Redis did not answer)',
    labelNames: ['result'],
    registers: [register],
  });
  const moves = new Counter({
    name: 'ton_streaming_levels_epochs_total',
    help: 'Changes of the log of levels, by the next one: shared, process (Redis did not answer). Cursors of before resume with finalized for five minutes',
    labelNames: ['log'],
    registers: [register],
  });
  return { appended: (result) => appends.inc({ result }), moved: (log) => moves.inc({ log }) };
}
