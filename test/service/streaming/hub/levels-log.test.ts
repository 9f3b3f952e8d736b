import { describe, expect, it } from 'vitest';

import { createLevelsLog, type LevelsLog } from '#service/streaming/hub/levels-log.ts';
import { hash, trace } from './hub-under-test.ts';

const MINUTE_MS = 60_000;

const pending = trace(hash(1), { finality: 'pending' });

/**
 * A log that replaced another one, and whether a cursor of now resumes: of a connection of this process, and of another process.
 * @param moves replaced logs; all but the first one have no record
 */
function createMoved(
  isEmpty: boolean,
  moves = 1,
): {
  readonly clock: { nowMs: number };
  readonly resumes: () => readonly boolean[];
} {
  const clock = { nowMs: 10 * MINUTE_MS };
  const log: LevelsLog = createLevelsLog({ epoch: 1, nowMs: () => clock.nowMs });
  if (!isEmpty) log.given(log.append(pending, null));
  for (let epoch = 2; epoch < 2 + moves; epoch++) {
    log.restart({ epoch, newest: 0, records: [], droppedMs: 0, cutMs: -Infinity }, () => undefined);
  }
  return {
    clock,
    resumes() {
      log.given(log.append(pending, null));
      const place = { epoch: log.epoch(), mark: log.mark() };
      return [log.reaches(place, true), log.reaches(place, false)];
    },
  };
}

describe('a log of levels that replaces another one', () => {
  it('resumes connections of this process five minutes later: what they were shown before is in the former log', () => {
    const { clock, resumes } = createMoved(false);
    clock.nowMs += 5 * MINUTE_MS - 1;
    expect(resumes()).toEqual([false, true]);
    clock.nowMs += 1;
    expect(resumes()).toEqual([true, true]);
  });

  it('resumes connections of this process at once where the first log of the process had no record', () => {
    expect(createMoved(true).resumes()).toEqual([true, true]);
  });

  it('resumes them five minutes later where a later log had no record: a final part may have been on its way to it', () => {
    expect(createMoved(true, 2).resumes()).toEqual([false, true]);
  });
});
