import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

import { expect, it } from 'vitest';

import { httpKinds } from '#test/bench/v3/http-kinds.ts';
import { meaningRequestsOf } from '#test/bench/v3/meaning-requests.ts';
import { kindOf, pathOfMix, readMix } from '#test/bench/v3/mixes.ts';
import { requestsOf } from '#test/bench/v3/requests.ts';
import { tokenRequestsOf } from '#test/bench/v3/token-requests.ts';
import { projectRoot } from '#test/support/service-flags.ts';
import type { Store } from '#service/store/store.ts';

const mixes = readdirSync(join(projectRoot, 'test/bench/mixes')).map((file) => basename(file, '.json'));

/** Names of kinds need no rows. */
const store = { read: () => Promise.resolve([]) } as unknown as Store;

const counts = { transactions: 1000, accounts: 200, wallets: 100, items: 100 };

it.each(mixes)('each kind of the mix %s is a kind of the bench of v3', async (mix) => {
  const requests = [
    ...(await requestsOf(store, counts.transactions)),
    ...(await tokenRequestsOf(store, counts)),
    ...(await meaningRequestsOf(store, counts)),
  ];
  const kinds = [...httpKinds(counts), ...requests.map(kindOf)];
  expect(() => pathOfMix(readMix(mix), kinds)).not.toThrow();
});

it('the draws of a mix follow the shares of its kinds', () => {
  const kinds = ['often', 'seldom', 'never'].map((name) => ({ name, path: () => name }));
  const path = pathOfMix({ often: 9, seldom: 1 }, kinds);
  const drawn = Array.from({ length: 1000 }, (_, turn) => path(turn));
  const often = drawn.filter((name) => name === 'often').length;
  expect(often).toBeGreaterThan(850);
  expect(often).toBeLessThan(950);
  expect(drawn).toContain('seldom');
  expect(drawn).not.toContain('never');
});

it('a mix with a name that is no kind is refused', () => {
  expect(() => pathOfMix({ unknown: 1 }, [])).toThrow('unknown');
});
