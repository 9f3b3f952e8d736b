import { Address, beginCell, Cell, internal, storeMessage } from '@ton/core';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { startPrivateNetwork } from '#test/support/private-network.ts';
import { startEmulateUnderTest, type EmulateUnderTest } from './emulate-under-test.ts';

let setting: EmulateUnderTest;

beforeAll(async () => {
  setting = await startEmulateUnderTest(await startPrivateNetwork(), { wallTimeMs: 2 });
});
afterAll(() => setting.close());

const bocOf = (one: Cell): string => one.toBoc().toString('base64');

it('a message is refused when its contract takes longer than a run may take', async () => {
  const account = Address.parseRaw(`0:${'6'.repeat(64)}`);
  const { info, ...message } = internal({ to: account, value: 1_000_000_000n });
  const cell = beginCell()
    .store(storeMessage({ ...message, info: { ...info, src: account } }))
    .endCell();
  // `PUSHCONT; AGAIN` of nothing: runs until a million of gas is used.
  const code = beginCell().storeUint(0x90ea, 16).endCell();
  const { status, body } = await setting.emulate({
    boc: bocOf(cell),
    ignore_chksig: true,
    overrides: { [account.toRawString()]: { balance: '1000000000000', code: bocOf(code), data: bocOf(Cell.EMPTY) } },
  });
  expect([status, body['error']]).toEqual([422, 'the message cannot be run: the call ran longer than 2 ms']);
});
