import { describe, expect, it } from 'vitest';

import { createRunQueue } from '#service/pending/run-queue.ts';

/** A queue whose runs end by hand. */
function openQueue(runsMax: number) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const queue = createRunQueue(
    { runsMax },
    {
      run(key) {
        if (key === 'gone') return undefined;
        started.push(key);
        return new Promise((end) => ends.set(key, end));
      },
    },
  );
  const end = async (key: string): Promise<void> => {
    ends.get(key)!();
    await new Promise(setImmediate);
  };
  return { queue, started, end };
}

describe('a run queue', () => {
  it('starts at most as many runs as it may, and each run that ends starts the next', async () => {
    const { queue, started, end } = openQueue(2);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    queue.start();
    expect(started).toEqual(['a', 'b']);
    expect(queue.isUnfinished('c')).toBe(true);
    await end('a');
    expect(started).toEqual(['a', 'b', 'c']);
    expect(queue.isUnfinished('a')).toBe(false);
  });

  it('runs a key again if the key was added during its run', async () => {
    const { queue, started, end } = openQueue(2);
    queue.add('a');
    queue.start();
    queue.add('a');
    queue.start();
    expect(started).toEqual(['a']);
    await end('a');
    expect(started).toEqual(['a', 'a']);
  });

  it('skips a key that needs no run any more', () => {
    const { queue, started } = openQueue(1);
    for (const key of ['gone', 'a']) queue.add(key);
    queue.start();
    expect(started).toEqual(['a']);
    expect(queue.isUnfinished('gone')).toBe(false);
  });

  it('starts no further run after its close', async () => {
    const { queue, started, end } = openQueue(1);
    for (const key of ['a', 'b']) queue.add(key);
    queue.start();
    queue.close();
    await end('a');
    expect(started).toEqual(['a']);
    expect(queue.isUnfinished('b')).toBe(false);
  });
});
