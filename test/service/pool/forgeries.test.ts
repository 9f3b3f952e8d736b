import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { runForgeries } from './forgery-runs.ts';
import { startNetwork } from './network.ts';

let network: Devchain;
beforeAll(async () => {
  network = await startNetwork(4);
});
afterAll(() => network.close());

test('no proved answer is accepted in any forged form', async () => {
  const runs = await runForgeries(network);
  expect(runs.filter(({ outcome }) => outcome === 'accepted')).toEqual([]);
  // Each function's answers were really forged, and the forgery was detected. A forgery is harmless only in bits without meaning.
  const functions = [...new Set(runs.map(({ functionName }) => functionName))];
  expect(functions).toHaveLength(14);
  for (const name of functions) {
    const refused = runs.filter(({ functionName, outcome }) => functionName === name && outcome === 'refused');
    expect([name, refused.length > 5]).toEqual([name, true]);
  }
});
