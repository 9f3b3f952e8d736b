import { setImmediate } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { createSharedRead } from '#service/runtime/shared-read.ts';

/** A read whose results a test gives, in the order of the reads. */
function createScript() {
  const begun: PromiseWithResolvers<number | undefined>[] = [];
  const read = createSharedRead({ timeoutMs: 60_000 }, () => {
    const result = Promise.withResolvers<number | undefined>();
    begun.push(result);
    return result.promise;
  });
  return { begun, read };
}

/** Enough for the next read to begin. */
async function turn(): Promise<void> {
  for (let at = 0; at < 3; at++) await setImmediate();
}

describe('a shared read', () => {
  it('gives each call the result of a read that began after the call', async () => {
    const { begun, read } = createScript();
    const first = read();
    await turn();
    const during = [read(), read(), read()];
    expect(begun).toHaveLength(1);
    begun[0]!.resolve(1);
    expect(await first).toBe(1);
    await turn();
    expect(begun).toHaveLength(2);
    const later = read();
    begun[1]!.resolve(2);
    expect(await Promise.all(during)).toEqual([2, 2, 2]);
    await turn();
    begun[2]!.resolve(3);
    expect(await later).toBe(3);
    expect(begun).toHaveLength(3);
  });

  it('has all callers of a turn of the event loop', async () => {
    const { begun, read } = createScript();
    for (const result of [1, 2, 3]) {
      const calls = [read(), read()];
      await turn();
      const own = begun.at(-1)!;
      own.resolve(result);
      expect(await Promise.all(calls)).toEqual([result, result]);
    }
    expect(begun).toHaveLength(3);
  });

  it('that fails gives undefined, and the next call reads again', async () => {
    const { begun, read } = createScript();
    const first = read();
    await turn();
    const second = read();
    begun[0]!.reject(new Error('no connection'));
    expect(await first).toBeUndefined();
    await turn();
    begun[1]!.resolve(2);
    expect(await second).toBe(2);
  });

  it('that does not end is abandoned after its time, and others read without it', async () => {
    const stuck = Promise.withResolvers<number>();
    const results = [stuck.promise, Promise.resolve(2)];
    const read = createSharedRead({ timeoutMs: 1 }, () => results.shift()!);
    const first = read();
    await turn();
    const second = read();
    expect([await first, await second]).toEqual([undefined, 2]);
    stuck.reject(new Error('too late'));
    await turn();
  });
});
