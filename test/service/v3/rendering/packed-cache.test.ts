import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { createPackedCache, type PackedCache } from '#service/v3/rendering/packed-cache.ts';
import type { TransactionNames } from '#service/v3/rendering/stored-transactions.ts';

const keyOf = (number: number): string => createHash('sha512').update(`${number}`).digest('latin1');

const names = (number: number): TransactionNames => ({
  hash: `hash ${number}`,
  traceId: `trace ${number}`,
  in_msg: { hash: `taken ${number}` },
  out_msgs: [{ hash: `sent ${number}` }],
  accounts: [`0:${number}`],
});

const textOf = (number: number): string => `{"lt":"${number}","text":"ö"}`;

const rendered = (number: number) => ({
  parts: [textOf(number).slice(0, 5), Buffer.from(textOf(number).slice(5))],
  names: names(number),
});

const numbers = Array.from({ length: 300 }, (_, number) => number);

async function foundIn(cache: PackedCache<TransactionNames>, wanted: readonly number[]) {
  const found = await cache.find(wanted.map(keyOf), {});
  return wanted.map((number) => {
    const one = found.get(keyOf(number));
    return one && { text: one.text.toString(), names: one.names };
  });
}

describe('the packed cache of rendered transactions', () => {
  it('has a transaction from its second rendering on, with its text and its names', async () => {
    const cache = createPackedCache<TransactionNames>({ bytesMax: 1_000_000 });
    for (const number of numbers) cache.keep(keyOf(number), rendered(number), 1);
    expect(await foundIn(cache, numbers)).toEqual(numbers.map(() => undefined));
    expect(cache.bytes()).toBe(0);
    for (const number of numbers.slice(100)) cache.keep(keyOf(number), rendered(number), 1);
    expect(await foundIn(cache, numbers)).toEqual(
      numbers.map((number) => (number < 100 ? undefined : { text: textOf(number), names: names(number) })),
    );
  });

  it('has a transaction once it was given so often before', async () => {
    const cache = createPackedCache<TransactionNames>({ bytesMax: 1_000_000 });
    const times: number[] = [];
    for (const before of [1, 3, 15]) {
      const key = [before];
      for (let given = 0; (await foundIn(cache, key))[0] === undefined; given++) {
        cache.keep(keyOf(before), rendered(before), before);
        times[before] = given;
      }
    }
    expect([times[1], times[3], times[15]]).toEqual([1, 3, 15]);
  });

  it('takes no more bytes than its bound, and loses the oldest transactions first', async () => {
    const cache = createPackedCache<TransactionNames>({ bytesMax: 10_000 });
    for (const number of [...numbers, ...numbers]) cache.keep(keyOf(number), rendered(number), 1);
    expect(cache.bytes()).toBeLessThanOrEqual(10_000);
    const found = await foundIn(cache, numbers);
    const first = found.findIndex((one) => one !== undefined);
    expect(first).toBeGreaterThan(0);
    expect(found.slice(first)).not.toContain(undefined);
  });

  it('leaves out a text of more than 2 MiB', async () => {
    const cache = createPackedCache<TransactionNames>({ bytesMax: 100_000_000 });
    const large = { parts: [Buffer.alloc(2 * 1024 * 1024, 'a')], names: names(1) };
    cache.keep(keyOf(1), large, 1);
    cache.keep(keyOf(1), large, 1);
    expect(await foundIn(cache, [1])).toEqual([undefined]);
  });
});
