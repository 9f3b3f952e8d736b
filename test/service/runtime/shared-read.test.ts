import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { createSharedRead } from '#service/runtime/shared-read.ts';

/** A read whose results a test gives, in the order of the reads. */
function createScript(timeoutMs = 60_000) {
  const begun: PromiseWithResolvers<number | undefined>[] = [];
  const read = createSharedRead({ timeoutMs }, () => {
    const result = Promise.withResolvers<number | undefined>();
    begun.push(result);
    return result.promise;
  });
  return { begun, read };
}

describe('a shared read', () => {
  it('gives each call the result of a read that began after the call', async () => {
    const { begun, read } = createScript();
    const first = read();
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

  it('begins at once when no read runs', async () => {
    const { begun, read } = createScript();
    for (const result of [1, 2, 3]) {
      const call = read();
      begun.at(-1)!.resolve(result);
      expect(await call).toBe(result);
    }
    expect(begun).toHaveLength(3);
  });

  it('that fails gives undefined, and the next call reads again', async () => {
    const { begun, read } = createScript();
    const [first, second] = [read(), read()];
    begun[0]!.reject(new Error('no connection'));
    expect(await first).toBeUndefined();
    await turn();
    begun[1]!.resolve(2);
    expect(await second).toBe(2);
  });

  it('that does not end is abandoned after its time, and others read without it', async () => {
    const { begun, read } = createScript(1);
    const [first, second] = [read(), read()];
    expect(await first).toBeUndefined();
    await turn();
    expect(begun).toHaveLength(2);
    begun[1]!.resolve(2);
    expect(await second).toBe(2);
    begun[0]!.reject(new Error('too late'));
    await turn();
  });
});
