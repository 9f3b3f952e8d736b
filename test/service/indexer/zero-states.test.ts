import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { addZeroStates } from '#service/indexer/zero-states.ts';
import type { BlockRows } from '#service/store/tables.ts';

const rows = {} as BlockRows;

/** An index and lite servers that fail so often first; what was done comes in order. */
async function adding({ isMissing = true, failures = 0, signal = new AbortController().signal }): Promise<string[]> {
  const done: string[] = [];
  let left = failures;
  await addZeroStates({
    isMissing: () => Promise.resolve(isMissing),
    read: () => {
      done.push('read');
      return left-- > 0 ? Promise.reject(new Error('no lite server has it')) : Promise.resolve(rows);
    },
    write: (written) => {
      done.push(written === rows ? 'written' : 'something else');
      return Promise.resolve();
    },
    pauseMs: 0,
    signal,
    logger: pino({ level: 'silent' }),
  });
  return done;
}

describe('zerostates of an index that is older than their rows', () => {
  it('are read and written', async () => {
    expect(await adding({})).toEqual(['read', 'written']);
  });

  it('are read again after a failure', async () => {
    expect(await adding({ failures: 2 })).toEqual(['read', 'read', 'read', 'written']);
  });

  it('are given up, without an end of the indexer, where no lite server keeps them', async () => {
    expect(await adding({ failures: 100 })).toEqual(['read', 'read', 'read', 'read', 'read']);
  });

  it('are not asked for where the index has them, or has no first block', async () => {
    expect(await adding({ isMissing: false })).toEqual([]);
  });

  it('are not asked for again when the indexer ends', async () => {
    const ended = AbortSignal.abort(new Error('closed'));
    await expect(adding({ failures: 1, signal: ended })).rejects.toThrow('closed');
  });
});
