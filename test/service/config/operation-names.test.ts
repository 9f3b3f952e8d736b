import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { streamOperation } from '#service/http/stream-caller.ts';
import { usageOperation } from '#service/limits/limits.ts';
import { operationNamed, operationNames, similarOperations } from '#service/config/operation-names.ts';
import { emulateTonConnectOperation } from '#service/emulate/operations/emulate-ton-connect.ts';
import { emulateTraceOperation } from '#service/emulate/operations/emulate-trace.ts';
import { v3Families } from '#service/main/wiring/v3-families.ts';
import { createV2 } from '#service/v2/v2.ts';

/** Operations are data: nothing of what they would ask is asked for their names. */
const nothing = new Proxy({}, { get: () => ({}) }) as never;

const v2 = createV2({ release: 0, legacyOperations: true }, nothing).operations;
const v3 = v3Families({ network: 'mainnet' }, nothing, nothing, {
  clock: () => 0,
  random: () => 0,
  register: new Registry(),
}).operations;
const emulate = [emulateTraceOperation(nothing), emulateTonConnectOperation(nothing)];

/** Operations without a contract here. */
const further = ['emulateTonConnect', streamOperation, usageOperation, 'faucet'];

describe('names of operations', () => {
  it('are all known, of both contracts and with every alias', () => {
    for (const { name, aliases } of [...v2, ...v3, ...emulate]) {
      expect([name, ...aliases].map(operationNamed)).toEqual([name, ...aliases].map(() => name));
    }
    expect(further.map(operationNamed)).toEqual(further);
  });

  it('are those of operations that exist', () => {
    const real = new Set([...v2, ...v3, ...emulate].map(({ name }) => name)).union(new Set(further));
    expect(operationNames.toSorted()).toEqual([...real].toSorted());
  });

  it.each(['jsonRPC', 'nowhere', 'toString', '__proto__', 'getaddressstate', ''])('are not %j', (name) => {
    expect(operationNamed(name)).toBe(undefined);
  });

  it.each([
    ['getaddressstate', ['getAddressState']],
    ['/api/v3/Jetton/Masters', ['jetton/masters']],
    ['v2/getTransactions', ['getTransactions']],
    ['orders', ['multisig/orders']],
    ['/api/emulate/v1/emulatetrace', ['emulateTrace']],
    ['emulate', ['emulateTrace', 'emulateTonConnect']],
    ['xyz', []],
    ['', []],
  ])('are suggested for %j', (name, expected) => {
    expect(similarOperations(name)).toEqual(expected);
  });
});
