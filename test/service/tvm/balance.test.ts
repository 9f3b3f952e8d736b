import { Cell, Dictionary } from '@ton/core';
import { afterAll, expect, it } from 'vitest';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { startTvm } from './recorded-world.ts';
import { callOf } from './small-world.ts';

const { tvm } = startTvm();
afterAll(() => tvm.close());

/** `DROP`, `BALANCE`: the pair of nanotons and the dictionary of other currencies. */
const BALANCE = '30f827';

it.each([
  { name: 'none', currencies: [] },
  { name: 'one', currencies: [{ id: 239, amount: 5n }] },
  { name: 'a negative id', currencies: [{ id: -17, amount: 1_000_000_000_000n }] },
  {
    name: 'several, one of them without amount',
    currencies: [
      { id: 0, amount: 1n },
      { id: 3, amount: 0n },
      { id: 239, amount: 2n ** 200n },
      { id: -17, amount: 7n },
    ],
  },
])('a contract sees its balance with $name as extra currencies', async ({ currencies }) => {
  const { stack } = await tvm.runGetMethod(callOf(BALANCE, { balance: 12n, extraCurrencies: currencies }));
  const [balance] = stack;
  const items = balance?.type === 'tuple' ? balance.items : [];
  expect(items[0]).toEqual({ type: 'int', value: 12n });
  const [, dictionary] = items;
  const seen = new Map<number, bigint>();
  if (dictionary?.type === 'cell') {
    const root = Cell.fromBoc(writeBoc(dictionary.table, [dictionary.cell]))[0]!;
    const read = Dictionary.loadDirect(Dictionary.Keys.Int(32), Dictionary.Values.BigVarUint(5), root);
    for (const [id, amount] of read) seen.set(id, amount);
  }
  const expected = currencies.filter(({ amount }) => amount > 0n).map(({ id, amount }) => [id, amount] as const);
  expect(seen).toEqual(new Map(expected));
});
