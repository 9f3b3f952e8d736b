import { Address, beginCell, Cell, internal, storeMessage } from '@ton/core';
import { afterEach, describe, expect, it } from 'vitest';

import { startPrivateNetwork } from '#test/support/private-network.ts';
import { scriptedCode, scriptedData } from '#test/support/scripted-contract.ts';
import { startEmulateUnderTest, type EmulateUnderTest } from './emulate-under-test.ts';

let setting: EmulateUnderTest;

afterEach(() => setting.close());

async function start(limits: { readonly wallTimeMs?: number; readonly threadMs?: number }): Promise<void> {
  setting = await startEmulateUnderTest(await startPrivateNetwork(), limits);
}

const [first, slow] = [Address.parseRaw(`0:${'6'.repeat(64)}`), Address.parseRaw(`0:${'7'.repeat(64)}`)];

const bocOf = (one: Cell): string => one.toBoc().toString('base64');

function messageTo(account: Address): string {
  const { info, ...message } = internal({ to: account, value: 1_000_000_000n });
  return bocOf(
    beginCell()
      .store(storeMessage({ ...message, info: { ...info, src: account } }))
      .endCell(),
  );
}

const accountOf = (code: Cell, data = Cell.EMPTY): object => ({
  balance: '1000000000000',
  code: bocOf(code),
  data: bocOf(data),
});

/**
 * `PUSHREFSLICE; PUSHCONT <{ DUP; BLS_MAP_TO_G2; DROP }>; AGAIN`: each round costs 8,000 gas and some 2 ms. A million of gas takes 200 ms,
 * as with an endless loop of cheap instructions on a busy machine.
 */
const slowCode = beginCell()
  .storeBuffer(Buffer.from('899520F9302630EA', 'hex'))
  .storeRef(beginCell().storeBuffer(Buffer.alloc(96, 1)))
  .endCell();

/** `PUSHCONT; AGAIN` of nothing: runs until a million of gas is used. */
const endless = beginCell().storeUint(0x90ea, 16).endCell();

const emulate = async (to: Address, overrides: ReadonlyMap<Address, object>): Promise<readonly unknown[]> => {
  const { status, body } = await setting.emulate({
    boc: messageTo(to),
    ignore_chksig: true,
    overrides: Object.fromEntries([...overrides].map(([address, account]) => [address.toRawString(), account])),
  });
  return [status, body['error']];
};

/** The first contract sends messages to the slow contract. */
const toSlow = (messages: number): ReadonlyMap<Address, object> =>
  new Map([
    [
      first,
      accountOf(
        scriptedCode(),
        scriptedData([Array.from({ length: messages }, () => internal({ to: slow, value: 5_000_000_000n }))]),
      ),
    ],
    [slow, accountOf(slowCode)],
  ]);

describe('an emulation is never a shorter trace and no fault of the caller when time ends it', () => {
  it('because its first contract takes longer than a run may take', async () => {
    await start({ wallTimeMs: 2 });
    expect(await emulate(slow, new Map([[slow, accountOf(endless)]]))).toEqual([
      504,
      'the emulation is ended: the call ran longer than 2 ms',
    ]);
  });

  it('because a later contract takes longer than a run may take', async () => {
    await start({ wallTimeMs: 100 });
    expect(await emulate(first, toSlow(1))).toEqual([504, 'the emulation is ended: the call ran longer than 100 ms']);
  });

  it('because its contracts together take more than its time of a thread', async () => {
    await start({ threadMs: 100 });
    expect(await emulate(first, toSlow(4))).toEqual([504, 'the emulation took more than 100 ms of a thread']);
  });
});
