import { Address, beginCell, Dictionary } from '@ton/core';
import type { Cell } from '@ton/core';
import { assert, bigInt, integer, nat, property, record, uniqueArray } from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseAddress } from '#service/decode/address.ts';
import type { LiveAccount } from '#service/live/accounts/accounts.ts';
import { createExtendedAccounts } from '#service/live/contracts/extended-accounts.ts';
import { recognizeByHash, recognizeContract } from '#service/live/contracts/known-contracts.ts';
import { describeChannelState } from '#service/live/contracts/payment-channel.ts';
import { unlockedBalance } from '#service/live/contracts/restricted-wallet.ts';
import { viewExtendedAccount } from '#service/v2/extended-accounts.ts';
import { reference, schemaOf } from '#test/service/http/reference.ts';
import { within } from '#test/service/pool/network.ts';
import {
  absentAccount,
  activeAccount,
  bytes32,
  emptyCellBoc,
  scriptAccounts,
} from '#test/service/v2/scripted-accounts.ts';
import { scriptConfiguration } from '#test/service/v2/scripted-configuration.ts';

/** Hashes of code that only tonlib's own library has; what is tested is what their data say. */
const codes = {
  highloadV1: 'CrH/k6nnnA3v9EBdja1rWsn4wBsvHry0JZ/rnpg4AJk=',
  highloadV2: 'jOtFs81LXMYOquHBO5wJI5Jnf+U2sumy2AG2Lv+TH+E=',
  dns: 'c1Ot4+H3y+3FJbPnvDIm/lrIJ2+lJ5rDf7bvvIj0Irc=',
  channel: 'Da+y0ZPcWqW+4h62BwUQypR10vDW62Ks+b8Ckjznjgs=',
  restricted: 'jTUEm5Rs8ztYUQu0VgyEGpRfd4HW3p/GnKP0MPbjInM=',
};

const account = { workchain: 0, id: bytes32(7) };
const asked = parseAddress(`0:${account.id.toString('hex')}`)!;
const seqnoAndId = beginCell().storeUint(3, 32).storeUint(4_294_967_295, 32).endCell();

/** Keys and values of a restricted wallet's steps. */
type Steps = readonly (readonly [seconds: number, locked: bigint])[];

function restrictedData(startAt: number, steps: Steps): Cell {
  const limits = Dictionary.empty(Dictionary.Keys.Int(32), Dictionary.Values.BigVarUint(4));
  for (const [seconds, locked] of steps) limits.set(seconds, locked);
  return beginCell()
    .storeUint(5, 32)
    .storeUint(6, 32)
    .storeBuffer(bytes32(1))
    .storeUint(startAt, 32)
    .storeDict(limits)
    .endCell();
}

const sides = [new Address(0, bytes32(0xaa)), new Address(-1, bytes32(0xbb))] as const;

function channelData(state: Cell): Cell {
  const [a, b] = sides.map((address) => beginCell().storeAddress(address).endCell());
  const config = beginCell()
    .storeUint(100, 32)
    .storeInt(-1, 32)
    .storeBuffer(bytes32(0x11))
    .storeBuffer(bytes32(0x22))
    .storeRef(a!)
    .storeRef(b!)
    .storeInt(-(2n ** 63n), 64)
    .storeCoins(0);
  return beginCell().storeRef(config.endCell()).storeRef(state).endCell();
}

/** A channel both of whose sides are this cell. */
function channelTo(address: Cell): Cell {
  const config = beginCell().storeBuffer(Buffer.alloc(72)).storeRef(address).storeRef(address).storeUint(0, 64);
  return beginCell().storeRef(config.endCell()).storeRef(openState(0)).endCell();
}

function openState(tag: 0 | 1): Cell {
  const flags = beginCell().storeUint(tag, 3).storeBit(true).storeBit(false);
  return flags
    .storeCoins(10)
    .storeCoins(0)
    .storeUint(4_000_000_000, 32)
    .storeCoins(300)
    .storeCoins(2n ** 62n)
    .endCell();
}

/** What is answered about an account of no known code. */
function show(state: LiveAccount) {
  return viewExtendedAccount({ account: state, known: undefined, unlockedBalance: 0n }, asked).account_state;
}

/** What is answered about an account with this code hash and data. */
function view(hash: string, data: Cell, unlocked = 0n) {
  const state = activeAccount(account, { data: data.toBoc() });
  const known = recognizeByHash(hash, state);
  return viewExtendedAccount({ account: state, known, unlockedBalance: unlocked }, asked);
}

describe('data of known code', () => {
  test.each([
    [codes.highloadV1, 'wallet.highload.v1.accountState', { wallet_id: 4_294_967_295, seqno: 3 }, -1],
    [codes.highloadV2, 'wallet.highload.v2.accountState', { wallet_id: 3 }, 1],
    [codes.dns, 'dns.accountState', { wallet_id: 3 }, -1],
  ])('%s is %s', (hash, type, fields, revision) => {
    const { account_state: state, revision: shown } = view(hash, seqnoAndId);
    expect(state).toEqual({ '@type': type, ...fields });
    expect(shown).toBe(revision);
  });

  test('a restricted wallet shows its steps by time and what is unlocked', () => {
    const data = restrictedData(1_000, [
      [86_400, 5n],
      [-5, 2n ** 70n],
      [0, 9n],
    ]);
    expect(view(codes.restricted, data, 2n ** 60n + 1n)).toMatchObject({ revision: 1 });
    expect(JSON.stringify(view(codes.restricted, data, 2n ** 60n + 1n).account_state)).toBe(
      '{"@type":"rwallet.accountState","wallet_id":6,"seqno":5,"unlocked_balance":1152921504606846977,"config":' +
        '{"@type":"rwallet.config","start_at":1000,"limits":[' +
        '{"@type":"rwallet.limit","seconds":-5,"value":1180591620717411303424},' +
        '{"@type":"rwallet.limit","seconds":0,"value":9},' +
        '{"@type":"rwallet.limit","seconds":86400,"value":5}]}}',
    );
  });

  test('a payment channel shows each value under its own name', () => {
    const { account_state: state } = view(codes.channel, channelData(openState(0)));
    expect(state).toMatchObject({
      '@type': 'pchan.accountState',
      config: {
        alice_address: { account_address: sides[0].toString() },
        bob_address: { account_address: sides[1].toString() },
        alice_public_key: expect.stringMatching(/^PuYRERER[A-Za-z0-9_-]{40}$/) as unknown,
        init_timeout: 100,
        close_timeout: -1,
        channel_id: { rawJSON: '-9223372036854775808' },
      },
      state: {
        '@type': 'pchan.stateInit',
        signed_A: true,
        signed_B: false,
        min_A: 10,
        min_B: 0,
        expire_at: 4_000_000_000,
        A: 300,
        B: { rawJSON: (2n ** 62n).toString() },
      },
    });
    expect(view(codes.channel, channelData(openState(1))).account_state).toMatchObject({
      state: { '@type': 'pchan.stateClose', min_A: 10, expire_at: 4_000_000_000, A: 300 },
    });
    const payout = beginCell().storeUint(2, 3).storeCoins(1).storeCoins(2).endCell();
    expect(view(codes.channel, channelData(payout)).account_state).toMatchObject({
      state: { '@type': 'pchan.statePayout', A: 1, B: 2 },
      description:
        '(chan_state_payout\n  A:(nanograms\n    amount:(var_uint len:1 value:1))\n  B:(nanograms\n    amount:(var_uint len:1 value:2)))\n',
    });
  });

  test('a channel is described as the node prints it', () => {
    const text = describeChannelState({
      kind: 'close',
      signedA: true,
      signedB: false,
      minA: 256n,
      minB: 0n,
      expireAt: 7,
      a: 1n,
      b: 2n,
    });
    expect(text.split('\n')).toEqual([
      '(chan_state_close signed_A:1 signed_B:0',
      '  promise_A:(nanograms',
      '    amount:(var_uint len:2 value:256))',
      '  promise_B:(nanograms',
      '    amount:(var_uint len:0 value:0)) expire_at:7',
      '  A:(nanograms',
      '    amount:(var_uint len:1 value:1))',
      '  B:(nanograms',
      '    amount:(var_uint len:1 value:2)))',
      '',
    ]);
  });

  const external = beginCell().storeUint(1, 2).storeUint(8, 9).storeUint(0, 8).endCell();
  const tooMany: Steps = Array.from({ length: 1_025 }, (_, index) => [index, 1n]);

  test.each([
    ['a wallet without data', codes.highloadV1, null],
    ['a wallet with too little data', codes.highloadV1, beginCell().storeUint(1, 32).endCell()],
    ['a restricted wallet before its first message', codes.restricted, seqnoAndId],
    [
      'a restricted wallet with more data',
      codes.restricted,
      beginCell().storeSlice(restrictedData(1, []).asSlice()).storeBit(0).endCell(),
    ],
    ['a restricted wallet with more steps than are read', codes.restricted, restrictedData(1, tooMany)],
    ['a channel in no known state', codes.channel, channelData(beginCell().storeUint(3, 3).endCell())],
    ['a channel to no account', codes.channel, channelTo(external)],
  ])('%s is shown raw', (_what, hash, data) => {
    expect(recognizeByHash(hash, { data: data?.toBoc() ?? null })).toBeUndefined();
  });

  test('code that is not known is shown raw, and no code by its frozen hash', () => {
    expect(recognizeContract({ code: emptyCellBoc, data: emptyCellBoc })).toBeUndefined();
    const boc = emptyCellBoc.toString('base64');
    expect(show(activeAccount(account))).toEqual({
      '@type': 'raw.accountState',
      code: boc,
      data: boc,
      frozen_hash: '',
    });
    expect(show(absentAccount(account))).toEqual({ '@type': 'uninited.accountState', frozen_hash: '' });
    const frozen = absentAccount(account, { state: 'frozen', frozenHash: bytes32(2) });
    expect(show(frozen)).toEqual({ '@type': 'uninited.accountState', frozen_hash: bytes32(2).toString('base64') });
  });

  test('an address keeps its flags', () => {
    for (const flags of [
      { bounceable: false, testOnly: false },
      { bounceable: true, testOnly: true },
      { bounceable: false, testOnly: true },
    ]) {
      const shown = new Address(0, account.id).toString(flags);
      const { address } = viewExtendedAccount(
        { account: absentAccount(account), known: undefined, unlockedBalance: 0n },
        parseAddress(shown)!,
      );
      expect(address.account_address).toBe(shown);
    }
    const far = { ...asked, workchain: 1_000 };
    const { address } = viewExtendedAccount(
      { account: absentAccount(far), known: undefined, unlockedBalance: 0n },
      far,
    );
    expect(address.account_address).toBe('');
  });
});

describe('every state', () => {
  test.each([
    ['highload v1', codes.highloadV1, seqnoAndId],
    ['highload v2', codes.highloadV2, seqnoAndId],
    ['dns', codes.dns, seqnoAndId],
    ['restricted', codes.restricted, restrictedData(0, [[1, 2n]])],
    ['channel to open', codes.channel, channelData(openState(0))],
    ['channel to close', codes.channel, channelData(openState(1))],
  ])('of a contract that is %s satisfies the published schema', (_name, hash, data) => {
    const validate = schemaOf(reference, 'ExtendedAccountState');
    const shown: unknown = JSON.parse(JSON.stringify(view(hash, data)));
    expect(validate(shown) ? [] : validate.errors).toEqual([]);
    expect(Object.keys(shown as object)).toEqual(
      Object.keys(reference.components.schemas['ExtendedAccountState']!['properties'] as object),
    );
  });
});

describe('the unlocked balance of a restricted wallet', () => {
  const steps = [
    { seconds: -10, locked: 100n },
    { seconds: 0, locked: 50n },
    { seconds: 60, locked: 20n },
  ];

  test.each([
    { startAt: 1_000, utime: 985, expected: 70n },
    { startAt: 1_000, utime: 990, expected: 0n },
    { startAt: 1_000, utime: 999, expected: 0n },
    { startAt: 1_000, utime: 1_000, expected: 20n },
    { startAt: 1_000, utime: 1_060, expected: 50n },
    { startAt: 0, utime: 5_000, expected: 0n },
  ])('started at $startAt is $expected at $utime', ({ expected, ...time }) => {
    expect(unlockedBalance({ limits: steps }, { balance: 70n, ...time })).toBe(expected);
  });

  test('is never more than the balance nor below zero', () => {
    const limit = record({
      seconds: integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      locked: bigInt(0n, 200n),
    });
    const limits = uniqueArray(limit, { selector: ({ seconds }) => seconds, maxLength: 8 });
    const time = nat({ max: 4_294_967_295 });
    assert(
      property(limits, bigInt(0n, 100n), time, time, (unsorted, balance, startAt, utime) => {
        const sorted = unsorted.toSorted((a, b) => a.seconds - b.seconds);
        const passed = startAt === 0 ? -1 : utime - startAt;
        const locked = sorted.filter(({ seconds }) => seconds <= passed).at(-1)?.locked ?? 0n;
        const expected = balance - locked > 0n ? balance - locked : 0n;
        expect(unlockedBalance({ limits: sorted }, { balance, startAt, utime })).toBe(expected);
      }),
      { seed: 42, numRuns: 300 },
    );
  });
});

describe('a restricted wallet that names no start', () => {
  const param = beginCell().storeUint(1_748_763_000, 32).endCell().toBoc();
  const data = restrictedData(0, [[1_000, 10n]]).toBoc();

  test.each([
    ['takes it from parameter -13', param, 90n],
    ['has none when the parameter is not set', null, 100n],
    ['has none when the parameter is too short', emptyCellBoc, 100n],
  ])('%s', async (_what, value, expected) => {
    const params: unknown[][] = [];
    const restricted = activeAccount(account, { balance: 100n, data });
    const extended = createExtendedAccounts({
      accounts: scriptAccounts({ account: () => restricted }),
      configuration: scriptConfiguration({
        readParam: async (...args) => {
          params.push(args.slice(0, 2));
          return { value, liteServers: [1], cached: false };
        },
      }),
      recognize: (state) => recognizeByHash(codes.restricted, state),
    });
    const answer = await extended.readExtended(account, undefined, within(60_000));
    expect(answer.value.unlockedBalance).toBe(expected);
    expect(answer.liteServers).toEqual([4, 1]);
    expect(params).toEqual([[-13, 1_000]]);
  });
});
