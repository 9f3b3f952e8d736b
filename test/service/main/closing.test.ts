import { describe, expect, it } from 'vitest';

import { closePart, closingLast } from '#service/main/closing.ts';

/** Parts that note their names when they close. */
function noted() {
  const closed: string[] = [];
  return {
    closed,
    part: (name: string, failure?: Error) => ({
      async close(): Promise<void> {
        await Promise.resolve();
        closed.push(name);
        if (failure !== undefined) throw failure;
      },
    }),
  };
}

describe('parts that a stack closes', () => {
  it('parts close one after the other in reverse order, and the last part after them', async () => {
    const { closed, part } = noted();
    const parts = new AsyncDisposableStack();
    parts.adopt(part('pool'), closePart);
    parts.adopt(undefined, closePart);
    parts.adopt(part('listener'), closePart);
    const all = closingLast(part('probes'), parts);
    await parts.disposeAsync();
    expect(closed).toEqual([]);
    await all.disposeAsync();
    await all.disposeAsync();
    expect(closed).toEqual(['listener', 'pool', 'probes']);
  });

  it('a part that fails to close does not prevent the others from closing, and its error is reported', async () => {
    const { closed, part } = noted();
    const parts = new AsyncDisposableStack();
    parts.adopt(part('pool'), closePart);
    parts.adopt(part('listener', new Error('the listener is broken')), closePart);
    await expect(closingLast(part('probes'), parts).disposeAsync()).rejects.toThrow('the listener is broken');
    expect(closed).toEqual(['listener', 'pool', 'probes']);
  });
});
