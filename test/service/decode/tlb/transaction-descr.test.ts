import { beginCell, storeTransactionDescription, storeTransactionsStoragePhase } from '@ton/core';
import type { Cell, TransactionDescription } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { readTransactionDescr } from '#service/decode/tlb/transaction-descr.ts';
import { coreDescr } from '../core-views.ts';
import { ourDescr } from '../our-views.ts';
import type { SplitOrMerge } from '../split-or-merge.ts';
import { writeSplitOrMerge } from '../split-or-merge.ts';

const bool = fc.boolean();
// Up to nine bytes. With all fifteen in every amount, a description does not fit its cell.
const coins = fc.bigInt(0n, (1n << 72n) - 1n);
const hash = fc.bigInt(0n, (1n << 256n) - 1n);
const int32 = fc.integer({ min: -0x80000000, max: 0x7fffffff });
const uint16 = fc.nat(0xffff);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const small = fc.bigInt(0n, (1n << 48n) - 1n);
const statusChange = fc.constantFrom('unchanged', 'frozen', 'deleted');

const storagePhase = fc.record({ storageFeesCollected: coins, storageFeesDue: maybe(coins), statusChange });
const creditPhase = fc.record({ dueFeesColelcted: maybe(coins), credit: fc.record({ coins }) });
const computePhase = fc.oneof(
  fc.record({
    type: fc.constant('skipped'),
    reason: fc.constantFrom('no-state', 'bad-state', 'no-gas'),
  }),
  fc.record({
    type: fc.constant('vm'),
    success: bool,
    messageStateUsed: bool,
    accountActivated: bool,
    gasFees: coins,
    gasUsed: small,
    gasLimit: small,
    gasCredit: maybe(fc.bigInt(0n, 0xffffn)),
    // @ton/core reads the signed mode as unsigned.
    mode: fc.nat(127),
    exitCode: int32,
    exitArg: maybe(int32),
    vmSteps: fc.nat(),
    vmInitStateHash: hash,
    vmFinalStateHash: hash,
  }),
);
const size = fc.record({ cells: small, bits: small });
const actionPhase = fc.record({
  success: bool,
  valid: bool,
  noFunds: bool,
  statusChange,
  totalFwdFees: maybe(coins),
  totalActionFees: maybe(coins),
  resultCode: int32,
  resultArg: maybe(int32),
  totalActions: uint16,
  specActions: uint16,
  skippedActions: uint16,
  messagesCreated: uint16,
  actionListHash: hash,
  totalMessageSize: size,
});
const bouncePhase = fc.oneof(
  fc.record({ type: fc.constant('negative-funds') }),
  fc.record({ type: fc.constant('no-funds'), messageSize: size, requiredForwardFees: coins }),
  fc.record({ type: fc.constant('ok'), messageSize: size, messageFees: coins, forwardFees: coins }),
);
const splitInfo = fc.record({
  currentShardPrefixLength: fc.nat(60),
  accountSplitDepth: fc.nat(63),
  thisAddress: hash,
  siblingAddress: hash,
});
const common = {
  computePhase,
  actionPhase: maybe(actionPhase),
  aborted: bool,
  destroyed: bool,
};

/** Descriptions that @ton/core writes like block.tlb. */
const plainDescr = fc.oneof(
  fc.record({
    type: fc.constant('generic'),
    creditFirst: bool,
    storagePhase: maybe(storagePhase),
    creditPhase: maybe(creditPhase),
    bouncePhase: maybe(bouncePhase),
    ...common,
  }),
  fc.record({ type: fc.constant('storage'), storagePhase }),
  fc.record({ type: fc.constant('tick-tock'), isTock: bool, storagePhase, ...common }),
) as unknown as fc.Arbitrary<TransactionDescription>;

/** Other descriptions. @ton/core puts the action phase of a split into the same cell, and knows no merges. */
const splitOrMerge = fc.oneof(
  fc.record({ type: fc.constant('split-prepare'), splitInfo, storagePhase: maybe(storagePhase), ...common }),
  fc.record({ type: fc.constant('split-install'), splitInfo, installed: bool }),
  fc.record({ type: fc.constant('merge-prepare'), splitInfo, storagePhase, aborted: bool }),
  fc.record({
    type: fc.constant('merge-install'),
    splitInfo,
    storagePhase: maybe(storagePhase),
    creditPhase: maybe(creditPhase),
    ...common,
  }),
) as unknown as fc.Arbitrary<SplitOrMerge>;

function read(cell: Cell): object {
  const boc = parseBoc(cell.toBoc());
  return ourDescr(boc, readTransactionDescr(boc, boc.roots[0]!));
}

describe('readTransactionDescr', () => {
  it('ordinary, storage and tick-tock descriptions of @ton/core are read', () => {
    fc.assert(
      fc.property(plainDescr, (descr) => {
        expect(read(beginCell().store(storeTransactionDescription(descr)).endCell())).toEqual(coreDescr(descr));
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it('splits and merges are read', () => {
    const prepare = beginCell().storeUint(7, 4).endCell();
    fc.assert(
      fc.property(splitOrMerge, (descr) => {
        const prepareTransaction = { hash: () => prepare.hash() };
        const withPrepare = descr.type.endsWith('install') ? { ...descr, prepareTransaction } : descr;
        expect(read(writeSplitOrMerge(descr, prepare))).toEqual(
          coreDescr(withPrepare as unknown as TransactionDescription),
        );
      }),
      { seed: 6, numRuns: 500 },
    );
  });

  it('the skip of a suspended account and a negative mode, which @ton/core does not know, are read', () => {
    const storage = { storageFeesCollected: 1n, statusChange: 'unchanged' as const };
    const tick = beginCell().storeUint(0b001, 3).storeBit(false).store(storeTransactionsStoragePhase(storage));
    const suspended = parseBoc(
      beginCell().storeBuilder(tick).storeUint(0b0110, 4).storeUint(0b010, 3).endCell().toBoc(),
    );
    expect(readTransactionDescr(suspended, 0)).toMatchObject({
      kind: 'tickTock',
      compute: { kind: 'skipped', reason: 'suspended' },
      aborted: true,
    });
    const unknown = parseBoc(beginCell().storeBuilder(tick).storeUint(0b0111, 4).storeUint(0b010, 3).endCell().toBoc());
    expect(() => readTransactionDescr(unknown, 0)).toThrow(expect.objectContaining({ code: 'bad_tag' }));
    const vm = beginCell()
      .storeUint(0, 7)
      .storeInt(-2, 8)
      .storeInt(-14, 32)
      .storeUint(0, 1 + 32 + 512)
      .endCell();
    const ran = beginCell()
      .storeBuilder(tick)
      .storeUint(0b1000, 4)
      .storeCoins(5)
      .storeRef(vm)
      .storeUint(0, 3)
      .endCell();
    expect(readTransactionDescr(parseBoc(ran.toBoc()), 0)).toMatchObject({
      compute: { kind: 'vm', mode: -2, exitCode: -14, gasFees: 5n },
    });
  });

  it.each([8, 9, 15])('the tag %i is refused', (tag) => {
    const boc = parseBoc(beginCell().storeUint(tag, 4).endCell().toBoc());
    expect(() => readTransactionDescr(boc, 0)).toThrow(expect.objectContaining({ code: 'bad_tag' }));
  });
});
