import { Dictionary, beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { formatRawAddress, parseAddress } from '#service/decode/address.ts';
import { dedustPools } from '#service/interfaces/dedust.ts';
import type { Answers, Consultation, Family, Found, NotFound, Subject } from '#service/interfaces/family.ts';
import { jvaultContracts } from '#service/interfaces/jvault.ts';
import { nominatorPools } from '#service/interfaces/nominators.ts';
import { vestings } from '#service/interfaces/vestings.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { accountKey } from '#service/store/account-key.ts';
import { accountNumber, addressOf, cellEntry, emptyCell, int, nothing, replaced, sliceOf } from './scripted-world.ts';

const self = accountNumber(1);
const [sender, owner] = [accountNumber(2), accountNumber(3)];
const state = { last_trans_lt: 5n, code_hash: Buffer.alloc(32, 6), data_hash: Buffer.alloc(32, 7) };

/** Query to another contract. */
type AttemptResult = Pick<Consultation<unknown>, 'by' | 'asks'>;

const answersOf =
  (methods: Record<string, readonly StackEntry[]>): Answers =>
  (method) =>
    methods[method];

/** Detects an account with one family, and with these answers of other contracts. */
async function detect(
  family: Family,
  methods: Record<string, readonly StackEntry[]>,
  others: { readonly data?: Buffer; readonly consult?: (asked: AttemptResult) => Answers } = {},
): Promise<Found | NotFound> {
  const { data = emptyCell.toBoc(), consult } = others;
  const subject: Subject = {
    account: self,
    key: accountKey(self),
    codeHash: state.code_hash,
    data,
    state,
    answers: answersOf(methods),
  };
  return family.detect(subject, {
    consult: async (asked) => (consult === undefined ? undefined : asked.read(consult(asked))),
    zoneOf: async () => undefined,
  });
}

describe('a pool of DeDust', () => {
  const ton = sliceOf(beginCell().storeUint(0, 4).endCell());
  const jetton = sliceOf(beginCell().storeUint(1, 4).storeInt(-1, 8).storeUint(0xabc, 256).endCell());
  const methods = {
    get_assets: [ton, jetton],
    is_stable: [int(0)],
    get_reserves: [int(1), int(2)],
    get_trade_fee: [int(25), int(10_000)],
  };
  const factory = parseAddress('EQBfBWT7X2BHg9tXAxzhz2aKiNTU1tpt5NsiK0uSDW_YAJ67')!;

  it('a pool of DeDust has the two assets for which its factory names it', async () => {
    const asked: AttemptResult[] = [];
    const found = await detect(dedustPools, methods, {
      consult: (one) => {
        asked.push(one);
        return answersOf({ get_pool_address: [addressOf(self)] });
      },
    });
    const assets = [null, `-1:${'ABC'.padStart(64, '0')}`];
    expect(found).toEqual({ facts: { dedustPool: { assets } } });
    expect(formatRawAddress(asked[0]!.by)).toBe(formatRawAddress(factory));
    expect(asked[0]!.asks).toEqual([{ method: 'get_pool_address', stack: [int(0), ton, jetton] }]);
  });

  it.each([
    ['names another', answersOf({ get_pool_address: [addressOf(owner)] })],
    ['says nothing', answersOf({})],
  ])('an account is no pool of DeDust when the factory %s', async (_name, said) => {
    expect(await detect(dedustPools, methods, { consult: () => said })).toBe('unconfirmed');
  });

  it('an account is no pool of DeDust on a network without the factory', async () => {
    expect(await detect(dedustPools, methods)).toBe('unconfirmed');
  });

  it.each<[string, Record<string, readonly StackEntry[]>]>([
    ['an asset of another form', { get_assets: [ton, sliceOf(beginCell().storeUint(2, 4).endCell())] }],
    ['an asset that is cut off', { get_assets: [ton, sliceOf(beginCell().storeUint(1, 4).endCell())] }],
    ['no kind', { is_stable: [nothing] }],
    ['no reserves', { get_reserves: [int(1)] }],
    ['no fee', { get_trade_fee: [] }],
  ])('an account is no pool of DeDust with %s', async (_name, wrong) => {
    const others = { consult: () => answersOf({ get_pool_address: [addressOf(self)] }) };
    expect(await detect(dedustPools, { ...methods, ...wrong }, others)).toBe('malformed');
  });
});

function whitelist(accounts: readonly AccountId[]): Cell {
  const dictionary = Dictionary.empty(Dictionary.Keys.Buffer(33), Dictionary.Values.Bool());
  for (const { workchain, id } of accounts) dictionary.set(Buffer.concat([Buffer.of(workchain & 255), id]), true);
  return beginCell().storeDictDirect(dictionary).endCell();
}

describe('a vesting contract', () => {
  const times = [int(1_700_000_000), int(864_000), int(86_400), int(0)];
  const stack = [
    ...times,
    int(100),
    addressOf(sender),
    addressOf(owner),
    cellEntry(whitelist([owner, accountNumber(9, -1)])),
  ];

  it('a vesting contract has its terms and its whitelist, ascending', async () => {
    expect(await detect(vestings, { get_vesting_data: stack })).toEqual({
      vestingContract: {
        address: accountKey(self),
        start_time: 1_700_000_000n,
        total_duration: 864_000n,
        unlock_period: 86_400n,
        cliff_duration: 0n,
        total_amount: 100n,
        sender: accountKey(sender),
        owner: accountKey(owner),
        whitelist: [accountKey(accountNumber(9, -1)), accountKey(owner)],
        ...state,
      },
    });
  });

  it('a vesting contract may have an empty whitelist', async () => {
    const found = await detect(vestings, { get_vesting_data: replaced(stack, 7, nothing) });
    expect(found).toMatchObject({ vestingContract: { whitelist: [] } });
  });

  it.each([
    ['a time below zero', replaced(stack, 0, int(-1))],
    ['no owner', replaced(stack, 6, addressOf(null))],
    ['a whitelist that is no dictionary', replaced(stack, 7, cellEntry(beginCell().storeUint(0b1111, 4).endCell()))],
    ['a whitelist that is no cell', replaced(stack, 7, int(0))],
  ])('an account is no vesting contract with %s', async (_name, said) => {
    expect(await detect(vestings, { get_vesting_data: said })).toBe('malformed');
  });
});

describe('contracts known by their code alone', () => {
  it('nominator pools are detected without running a method', async () => {
    expect(nominatorPools.needs).toEqual([]);
    expect(await detect(nominatorPools, {})).toEqual({ facts: { isNominatorPool: true } });
  });
});

describe('a contract of jVault', () => {
  const storage = [addressOf(sender), addressOf(owner), ...Array.from({ length: 12 }, () => int(0))];

  it('a contract of jVault has its data among the facts', async () => {
    const data = beginCell().storeUint(7, 8).endCell().toBoc();
    expect(await detect(jvaultContracts, { get_storage_data: storage }, { data })).toEqual({ facts: { data } });
  });

  it.each([
    ['few values', storage.slice(0, 5), 10],
    ['one account', storage.slice(1), 10],
    ['more data than the bound', storage, 17 * 1024],
  ])('an account is no contract of jVault with %s', async (_name, said, length) => {
    const found = await detect(jvaultContracts, { get_storage_data: said }, { data: Buffer.alloc(length) });
    expect(found).toBe('malformed');
  });
});
