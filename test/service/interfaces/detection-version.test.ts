import { createHash } from 'node:crypto';

import { beginCell } from '@ton/core';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { formatRawAddress } from '#service/decode/address.ts';
import { createDetector } from '#service/interfaces/detector.ts';
import { families } from '#service/interfaces/families.ts';
import { DETECTION_VERSION } from '#service/interpreter/options.ts';
import { accountNumber, addressOf, cellEntry, changed, int, scriptedWorld, type Contract } from './scripted-world.ts';

const self = accountNumber(1);
const [party, code] = [addressOf(accountNumber(2)), cellEntry(beginCell().storeUint(1, 8).endCell())];
const content = (text: string) => cellEntry(beginCell().storeStringTail(text).endCell());

/** Values at the edges of what a row takes. */
const contracts: readonly Contract['methods'][] = [
  ...['\x01https://a.example', '\x02 outside of TEP-64'].flatMap((text) => [
    { get_jetton_data: [int(5), int(-1), party, content(text), code] },
    { get_collection_data: [int(7), content(text), party] },
    { get_nft_data: [int(-1), int(3), addressOf(null), party, content(text)] },
  ]),
  ...[1_700_000_000, 3_000_000_000].map((createdAt) => ({
    get_sale_data: [int(0x46495850), int(0), int(createdAt), party, party, party, int(9), party, int(2), party, int(1)],
  })),
];

async function rowsOf(methods: Contract['methods']): Promise<string> {
  const world = scriptedWorld({ [formatRawAddress(self)]: { methods } });
  const detector = createDetector({ network: 'mainnet' }, { register: new Registry() });
  const { facts: _, ...rows } = (await detector.detect(world, changed(self, { methods })))!;
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

it('A change of kinds or rows has a version of its own', async () => {
  const kinds = families.map(({ kind, needs, asks, codeHashes = [] }) => [kind, needs, asks, [...codeHashes]]);
  const rows = await Promise.all(contracts.map(rowsOf));
  expect(rows.filter((row) => row === '{"lastTransLt":"1"}')).toEqual([]);
  const text = JSON.stringify([kinds, rows]);
  // A difference asks for a higher version, or for the new hash alone where no row changes.
  expect([DETECTION_VERSION, createHash('sha256').update(text).digest('hex').slice(0, 16)]).toEqual([
    8,
    '98455ecaf3bf4795',
  ]);
});
