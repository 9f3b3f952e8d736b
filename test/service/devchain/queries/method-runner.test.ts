import { beginCell, serializeTuple } from '@ton/core';
import { expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { createMethodRunner } from '#service/devchain/queries/method-runner.ts';
import { exoticCells } from '#test/service/decode/exotic-cells.ts';
import { smallConfig } from '#test/service/tvm/small-world.ts';

it('A lite server runs get-methods after arguments that end its emulator', async () => {
  const states = createCellStore();
  const store = (bytes: Buffer): number => {
    const bag = parseBoc(bytes);
    return states.import(bag, bag.roots[0]!);
  };
  const runner = createMethodRunner();
  const call = {
    states,
    config: store(smallConfig().boc),
    libraries: undefined,
    // DROP
    code: store(beginCell().storeUint(0x30, 8).endCell().toBoc()),
    data: undefined,
    workchain: 0,
    id: Buffer.alloc(32, 7),
    balance: 1n,
    utime: 1_800_000_000,
    randSeed: Buffer.alloc(32),
    methodId: 1n,
    params: Buffer.alloc(0),
    previousBlocks: '',
  };
  for (const cell of Object.values(exoticCells)) {
    await runner.ready();
    const params = serializeTuple([{ type: 'slice', cell }]).toBoc();
    expect(() => runner.run({ ...call, params })).toThrow('the emulator threw an exception');
    await runner.ready();
    expect(runner.run(call).exitCode).toBe(0);
  }
});
