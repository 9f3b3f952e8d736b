import { Cell, Dictionary, beginCell } from '@ton/core';
import * as fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { createLibraries, writeLibraries } from '#service/tvm/libraries.ts';
import { createTvmMetrics } from '#service/tvm/metrics.ts';
import type { PreviousBlocks } from '#service/tvm/previous-blocks.ts';
import { startTvm, writeCell } from './recorded-world.ts';
import { callOf } from './small-world.ts';

/** Returns a library that pushes a number, and the cell that refers to it. */
function libraryOf(number: number): { readonly content: Buffer; readonly hash: string; readonly reference: Buffer } {
  const content = beginCell().storeUint(0x80, 8).storeInt(number, 8).endCell();
  const reference = beginCell().storeUint(2, 8).storeBuffer(content.hash()).endCell({ exotic: true });
  return { content: content.toBoc(), hash: content.hash().toString('hex'), reference: reference.toBoc() };
}

/** Creates a source of libraries that records its requests. */
function sourceOf(libraries: readonly { readonly content: Buffer; readonly hash: string }[]) {
  const asked: string[] = [];
  const fetchLibrary = async (hash: Buffer): Promise<Buffer | undefined> => {
    asked.push(hash.toString('hex'));
    return libraries.find((one) => one.hash === hash.toString('hex'))?.content;
  };
  return { asked, fetchLibrary };
}

function blocksAt(seqno: number): PreviousBlocks {
  const id = { workchain: -1, shard: 1n << 63n, seqno, rootHash: Buffer.alloc(32), fileHash: Buffer.alloc(32) };
  return { last: [id], lastKeyBlock: id };
}

describe('a contract whose code is a library', () => {
  const { tvm } = startTvm();
  afterAll(() => tvm.close());

  it('a contract runs with its library, which is fetched once for many calls', async () => {
    const library = libraryOf(41);
    const { asked, fetchLibrary } = sourceOf([library]);
    for (let call = 0; call < 3; call++) {
      const { stack, exitCode } = await tvm.runGetMethod(callOf('', { code: library.reference, fetchLibrary }));
      expect([exitCode, stack.at(-1)]).toEqual([0, { type: 'int', value: 41n }]);
    }
    expect(asked).toEqual([library.hash]);
  });

  it('a contract without its library ends with exit code 9 and names the library', async () => {
    const library = libraryOf(42);
    const { asked, fetchLibrary } = sourceOf([]);
    const result = await tvm.runGetMethod(callOf('', { code: library.reference, fetchLibrary }));
    expect(result).toMatchObject({ exitCode: 9, missingLibraries: [Buffer.from(library.hash, 'hex')] });
    expect(asked).toEqual([library.hash]);
    expect(await tvm.runGetMethod(callOf('', { code: library.reference }))).toMatchObject({ exitCode: 9 });
  });

  it('a contract does not have its library before the block that published it', async () => {
    const library = libraryOf(43);
    const later = sourceOf([library]);
    const call = { code: library.reference, fetchLibrary: later.fetchLibrary };
    await tvm.runGetMethod(callOf('', { ...call, previousBlocks: blocksAt(100) }));
    const earlier = sourceOf([]);
    const before = { code: library.reference, fetchLibrary: earlier.fetchLibrary, previousBlocks: blocksAt(99) };
    expect((await tvm.runGetMethod(callOf('', before))).exitCode).toBe(9);
    expect(earlier.asked).toEqual([library.hash]);
    expect((await tvm.runGetMethod(callOf('', { ...before, previousBlocks: blocksAt(100) }))).exitCode).toBe(0);
    expect(earlier.asked).toEqual([library.hash]);
  });

  it('a contract does not have its library from the next block on when that block withdraws it', async () => {
    const library = libraryOf(47);
    const run = (seqno: number, libraries: readonly (typeof library)[]): Promise<number> => {
      const { fetchLibrary } = sourceOf(libraries);
      const call = callOf('', { code: library.reference, fetchLibrary, previousBlocks: blocksAt(seqno) });
      return tvm.runGetMethod(call).then(({ exitCode }) => exitCode);
    };
    expect([await run(100, [library]), await run(101, [library]), await run(100, [])]).toEqual([0, 0, 0]);
    expect(await run(102, [])).toBe(9);
    // Published again: the blocks between do not have it.
    expect([await run(110, [library]), await run(105, []), await run(110, [])]).toEqual([0, 9, 0]);
  });

  it('a call is refused when the answer is another cell', async () => {
    const library = libraryOf(44);
    const fetchLibrary = async (): Promise<Buffer> => libraryOf(45).content;
    const call = tvm.runGetMethod(callOf('', { code: library.reference, fetchLibrary }));
    await expect(call).rejects.toMatchObject({ code: 'tvm_library_unavailable' });
  });

  it('a call fails like the fetch of its library', async () => {
    const failure = new Error('no lite server');
    const fetchLibrary = async (): Promise<Buffer> => {
      throw failure;
    };
    await expect(tvm.runGetMethod(callOf('', { code: libraryOf(46).reference, fetchLibrary }))).rejects.toBe(failure);
  });

  it('a call that needs more libraries than the bound is refused', async () => {
    const libraries = Array.from({ length: 20 }, (_, index) => libraryOf(50 + index));
    // Each library cell is loaded in turn. PUSHREF takes its reference from the code's own cell, and CTOS loads it.
    let code = new Cell();
    for (const { reference } of libraries.toReversed()) {
      const builder = beginCell().storeBuffer(Buffer.from('88d030', 'hex')).storeRef(Cell.fromBoc(reference)[0]!);
      code = builder.storeRef(code).endCell();
    }
    const call = callOf('', { code: code.toBoc(), fetchLibrary: sourceOf(libraries).fetchLibrary });
    await expect(tvm.runGetMethod(call)).rejects.toMatchObject({
      code: 'tvm_library_unavailable',
      data: { limit: 16 },
    });
  });
});

describe('libraries', () => {
  it('libraries are cached within the bound, and the library unused longest is evicted first', async () => {
    const all = [1, 2, 3].map(libraryOf);
    const { asked, fetchLibrary } = sourceOf(all);
    const { content } = all[0]!;
    const libraries = createLibraries(
      content.length * 2,
      createTvmMetrics(new Registry(), () => 0),
    );
    for (const index of [0, 1, 0, 2, 0, 1]) await libraries.find(all[index]!.hash, 1, fetchLibrary);
    expect(asked).toEqual([all[0], all[1], all[2], all[1]].map((one) => one!.hash));
  });

  it('libraries are written as a dictionary that @ton/core reads', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 12 }),
        (contents) => {
          const cells = contents.map((content) => beginCell().storeBuffer(Buffer.from(content)).endCell());
          const hashes = cells.map((cell) => cell.hash().toString('hex'));
          const written = writeLibraries(new Map(cells.map((cell, index) => [hashes[index]!, cell.toBoc()])));
          const read = Dictionary.loadDirect(
            Dictionary.Keys.Buffer(32),
            Dictionary.Values.Cell(),
            Cell.fromBoc(written)[0]!,
          );
          expect([...read].map(([key]) => key.toString('hex'))).toEqual([...new Set(hashes)].toSorted());
          for (const [key, cell] of read) expect(cell.hash().toString('hex')).toBe(key.toString('hex'));
        },
      ),
      { seed: 20261121, numRuns: 60 },
    );
  });

  it('libraries of one cell are written too', () => {
    expect(Cell.fromBoc(writeLibraries(new Map([[libraryOf(1).hash, libraryOf(1).content]])))).toHaveLength(1);
    expect(() => writeLibraries(new Map([['00'.repeat(32), writeCell(Buffer.alloc(0))]]))).not.toThrow();
  });
});
