import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { cacheBytesOf, cachePartOf } from '#service/v3/cache-bytes.ts';
import { projectRoot } from '#test/support/service-flags.ts';

const GIB = 2 ** 30;

const mibOf = (part: number): number =>
  Object.values(cacheBytesOf(part)).reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20;

describe('the caches of v3', () => {
  it('have at most 160 MiB together', () => {
    expect(mibOf(1)).toBeLessThanOrEqual(160);
  });

  it('take at most a sixth of a limit of memory, and no more than in a pod of 1 GiB', () => {
    const limits = [GIB / 4, GIB / 2, GIB, 4 * GIB];
    expect(limits.map((bytes) => mibOf(cachePartOf(bytes)))).toEqual([34, 68, 136, 136]);
  });

  it('have the bytes that the page says', () => {
    const page = readFileSync(join(projectRoot, 'service/v3/README.md'), 'utf8');
    const said = page.slice(page.indexOf('| Cache | MiB |')).split('\n\n')[0]!;
    const numbers = [...said.matchAll(/\| ([\d.]+) \|$/gm)].map(([, number]) => Number(number));
    const each = Object.values(cacheBytesOf()).map((bytes) => bytes / 2 ** 20);
    // The part of `npm start` is an eighth.
    expect(numbers).toEqual([...each, mibOf(1), mibOf(1 / 8)]);
  });
});
