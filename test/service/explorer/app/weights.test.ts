import { describe, expect, it } from 'vitest';

import { nodeIdShort } from '#service/decode/signed-bytes.ts';
import { masterchainValidators, nodeIdOf, percentOf, weigh } from '#service/explorer/app/block/weights.ts';
import type { ConfigValue } from '#service/explorer/app/config/values.ts';

const key = (byte: number): string => byte.toString(16).padStart(2, '0').repeat(32);

const set: ConfigValue = {
  kind: 'group',
  rows: [
    ['main', { kind: 'number', text: '3' }],
    [
      'validators',
      {
        kind: 'list',
        items: [10, 20, 30, 1000].map((weight, at) => ({
          kind: 'group',
          rows: [
            ['key', { kind: 'hash', hex: key(at + 1) }],
            ['weight', { kind: 'number', text: String(weight) }],
          ],
        })),
      },
    ],
  ],
};

const idOf = (hex: string): Promise<string> => Promise.resolve(`id of ${hex}`);
const ids = (...bytes: number[]): string[] => bytes.map((byte) => `id of ${key(byte)}`);

describe('signatures of a masterchain block', () => {
  it('are weighed against the main validators alone', async () => {
    const validators = masterchainValidators(set) ?? [];
    expect(validators.map(({ weight }) => weight)).toEqual([10n, 20n, 30n]);
    const { signed, total, isEnough, signers } = await weigh(ids(2, 3), validators, idOf);
    expect([signed, total, isEnough]).toEqual([50n, 60n, true]);
    expect(signers.map(({ validator }) => validator?.weight)).toEqual([20n, 30n]);
  });

  it('of exactly two thirds of the weight are not enough', async () => {
    const { signed, isEnough } = await weigh(ids(1, 3), masterchainValidators(set) ?? [], idOf);
    expect([signed, isEnough]).toEqual([40n, false]);
  });

  it('count once, and a signer outside of the set has no weight', async () => {
    const { signed, signers } = await weigh(ids(1, 1, 4, 9), masterchainValidators(set) ?? [], idOf);
    expect(signed).toBe(10n);
    expect(signers.map(({ validator }) => validator?.weight)).toEqual([10n, 10n, undefined, undefined]);
  });

  it('have no weight by a set of an unknown form', () => {
    expect(masterchainValidators(undefined)).toBeUndefined();
    expect(masterchainValidators({ kind: 'group', rows: [] })).toBeUndefined();
  });

  it('name their signers by the short id of the key, as the proofs do', async () => {
    expect(await nodeIdOf(key(0xab))).toBe(nodeIdShort(Buffer.alloc(32, 0xab)).toString('base64'));
  });

  it.each([
    [2n, 3n, '66.66'],
    [1n, 1n, '100.00'],
    [1n, 30_000n, '0.00'],
    [0n, 0n, '0'],
  ])('%i of %i are shown as %s percent', (part, whole, text) => {
    expect(percentOf(part, whole)).toBe(text);
  });
});
