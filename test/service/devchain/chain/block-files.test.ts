import { readdirSync, readlinkSync } from 'node:fs';

import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

import { createBlockFiles } from '#service/devchain/chain/block-files.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';

/** Descriptors of this process that lead to files of blocks. */
function openFiles(): number {
  return readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).includes('tonplane-blocks-');
    } catch {
      return false;
    }
  }).length;
}

describe('blocks on disk', () => {
  it('are read as they were written, in any order', () => {
    const blocks = fc.array(fc.uint8Array({ maxLength: 20_000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(blocks, (written) => {
        const files = createBlockFiles();
        const stored = written.map((bytes) => files.put(Buffer.from(bytes)));
        for (const [at, one] of [...stored.entries()].toReversed()) {
          expect([one.length, one.read().equals(written[at]!)]).toEqual([written[at]!.length, true]);
        }
        files.close();
      }),
      { numRuns: 20 },
    );
  });

  it('a file of blocks is closed with its last block', { skip: process.platform !== 'linux' }, () => {
    const before = openFiles();
    const files = createBlockFiles();
    const stored = Array.from({ length: 24 }, (_, at) => files.put(Buffer.alloc(1_048_576, at)));
    expect(openFiles() - before).toBe(3);
    for (const one of stored.slice(0, 20)) one.drop();
    expect(openFiles() - before).toBe(1);
    expect(stored.at(-1)!.read()[0]).toBe(23);
    files.close();
    expect(openFiles()).toBe(before);
  });
});

describe('blocks of a private network', async () => {
  const network = await startPrivateNetwork();
  afterAll(() => network.close());
  for (let step = 0; step < 100; step++) await network.step();

  it('are the same from disk as when they were made, and take no memory', () => {
    const { chain } = network;
    const block = chain.masterchain(10)!;
    const boc = chain.parse(block);
    expect(boc.hashEquals(boc.roots[0]!, block.id.rootHash)).toBe(true);
    expect(block.bytes).not.toBe(block.bytes);
    expect(block.bytes.equals(block.bytes)).toBe(true);
  });
});
