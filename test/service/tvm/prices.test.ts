import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { forwardFee, gasBought, gasFee, readPrices, storageFee } from '#service/tvm/prices.ts';
import { smallConfig } from './small-world.ts';

const boc = parseBoc(smallConfig().boc);
const basechain = readPrices(boc, boc.roots[0]!, false);
const masterchain = readPrices(boc, boc.roots[0]!, true);

describe('prices', () => {
  it('prices are read from the configuration', () => {
    expect(basechain.gas).toEqual({
      flatLimit: 100n,
      flatPrice: 40_000n,
      price: 26_214_400n,
      limit: 1_000_000n,
      credit: 10_000n,
    });
    expect(basechain.storage).toEqual([{ sinceUtime: 0, bit: 1n, cell: 500n }]);
    expect(masterchain.storage).toEqual([{ sinceUtime: 0, bit: 1000n, cell: 500_000n }]);
    expect(basechain.messages.basechain).toEqual({ lump: 400_000n, bit: 26_214_400n, cell: 2_621_440_000n });
    expect(basechain.messages.masterchain).toEqual({ lump: 10_000_000n, bit: 26_214_400n, cell: 2_621_440_000n });
  });

  it.each([
    [0n, 40_000n],
    [100n, 40_000n],
    [101n, 40_400n],
    [1000n, 400_000n],
  ])('%i gas costs %i', (gas, fee) => expect(gasFee(basechain.gas, gas)).toBe(fee));

  it.each([
    [0n, 0n],
    [39_999n, 0n],
    [40_000n, 100n],
    [40_400n, 101n],
    [10n ** 12n, 1_000_000n],
  ])('%i nanotons buy %i gas', (balance, gas) => expect(gasBought(basechain.gas, balance)).toBe(gas));

  it('the fee of a message is rounded up to a whole nanoton', () => {
    expect(forwardFee({ lump: 10n, bit: 1n, cell: 0n }, { cells: 0, bits: 0 })).toBe(10n);
    expect(forwardFee({ lump: 10n, bit: 1n, cell: 0n }, { cells: 0, bits: 1 })).toBe(11n);
    expect(forwardFee({ lump: 10n, bit: 0n, cell: 65_536n }, { cells: 3, bits: 7 })).toBe(13n);
  });

  it.each([
    ['never charged', 0, 1000, 0n],
    ['charged this second', 1000, 1000, 0n],
    ['charged later', 1001, 1000, 0n],
    ['within the first price', 10, 20, 10n],
    ['over both prices', 90, 110, 10n + 20n],
    ['from before the first price', 1, 20, 15n],
    ['since the second price', 150, 151, 2n],
  ])('storage is charged for each second at its price: %s', (_, lastPaid, utime, fee) => {
    const prices = [
      { sinceUtime: 5, bit: 65_536n, cell: 0n },
      { sinceUtime: 100, bit: 131_072n, cell: 0n },
    ];
    expect(storageFee(prices, { cells: 9, bits: 1 }, lastPaid, utime)).toBe(fee);
  });
});
