import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { cacheBytesMax } from '#service/v3/cache-bytes.ts';
import { projectRoot } from '#test/support/service-flags.ts';

describe('the caches of v3', () => {
  const totalMiB = Object.values(cacheBytesMax).reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20;

  it('have at most 160 MiB together', () => {
    expect(totalMiB).toBeLessThanOrEqual(160);
  });

  it('have the bytes that the page says', () => {
    const page = readFileSync(join(projectRoot, 'service/v3/README.md'), 'utf8');
    const said = page.slice(page.indexOf('| Cache | MiB |')).split('\n\n')[0]!;
    const numbers = [...said.matchAll(/\| ([\d.]+) \|$/gm)].map(([, number]) => Number(number));
    const { transactions, messages, traces, packedTraces, ...others } = cacheBytesMax;
    const rendered = [transactions, messages, traces, packedTraces].map((bytes) => bytes / 2 ** 20);
    const inDev = rendered.reduce((sum, mib) => sum + mib, 0) / 8;
    expect(numbers).toEqual([...rendered, inDev, ...Object.values(others).map((bytes) => bytes / 2 ** 20), totalMiB]);
  });
});
