import { describe, expect, it } from 'vitest';

import { decideKey } from '#operator/keys/key.ts';
import { unknownOperations } from '#operator/keys/unknown-operations.ts';
import type { TonApiKey } from '#operator/resource.ts';
import { conditionOf } from '#operator/status/conditions.ts';
import { sample, sampleKey } from '#test/operator/desired/samples.ts';

const restricted = (...allowedMethods: string[]): TonApiKey => {
  const tonApiKey = sampleKey();
  return { ...tonApiKey, spec: { ...tonApiKey.spec, allowedMethods } };
};

describe('names in allowedMethods', () => {
  it('are taken when they are operations, in any of their spellings', () => {
    expect(unknownOperations(restricted('getAddressInformation', 'jetton/wallets', 'shards', 'usage'))).toBeUndefined();
    expect(unknownOperations(sampleKey())).toBeUndefined();
  });

  it.each([
    ['getAdressInformation', 'did you mean getAddressInformation?'],
    ['getaddressinformation', 'did you mean getAddressInformation?'],
    ['/api/v2/getShards', 'did you mean getShards?'],
    ['jetton', 'did you mean jetton/masters, jetton/wallets, jetton/transfers, jetton/burns?'],
    ['*', 'no operation has the name *'],
    ['somethingElseAtAll', 'no operation has the name somethingElseAtAll'],
  ])('that no operation has are named: %s', (name, expected) => {
    const found = unknownOperations(restricted('getShards', name));
    expect(found).toContain(`spec.allowedMethods[1]: no operation has the name ${name}`);
    expect(found).toContain(expected);
    expect(found?.endsWith(expected)).toBe(true);
  });

  it('that no operation has leave the key in force, and are in a condition', () => {
    const { status, secret } = decideKey({
      tonApiKey: restricted('getAdressInformation'),
      tonApi: sample('typical'),
      permitted: true,
      secret: undefined,
      inKeyring: () => true,
      acknowledged: true,
      isOthers: () => false,
      randomBytes: (length) => Buffer.alloc(length, 7),
      nowMs: Date.parse('2026-11-21T12:00:00Z'),
    });
    expect(secret).toBeDefined();
    expect(conditionOf(status?.conditions, 'Ready')?.reason).toBe('InForce');
    expect(conditionOf(status?.conditions, 'ReferencesResolved')).toMatchObject({
      status: 'False',
      reason: 'OperationNotFound',
      message: expect.stringContaining('getAddressInformation'),
    });
  });

  it('are named up to three, with the count of the others', () => {
    const found = unknownOperations(restricted('one!', 'two!', 'three!', 'four!', 'five!'));
    expect(found).toContain('spec.allowedMethods[2]');
    expect(found?.endsWith('; and 2 more')).toBe(true);
  });
});
