import { Address, beginCell, Cell, contractAddress, Dictionary, toNano } from '@ton/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { putAccount } from '#test/support/put-account.ts';
import { startEmulateUnderTest, type EmulateUnderTest } from '../emulate-under-test.ts';
import { wallets, type WalletUnderTest } from '../ton-connect/wallets-under-test.ts';

// Requests of TON Connect from wallets of all versions on a private network, without an index.

type Transaction = {
  readonly account: string;
  readonly now: number;
  readonly end_status: string;
  readonly out_msgs: readonly { readonly destination: string; readonly value: string; readonly bounce: boolean }[];
  readonly description: {
    readonly compute_ph: { readonly exit_code?: number };
    readonly action?: { readonly skipped_actions: number; readonly msgs_created: number };
  };
};

type Body = {
  readonly error?: string;
  readonly exit_code?: number;
  readonly vm_log?: string;
  readonly mc_block_seqno: number;
  readonly is_incomplete: boolean;
  readonly trace: { readonly tx_hash: string };
  readonly transactions: Readonly<Record<string, Transaction>>;
  readonly actions: readonly { readonly type: string; readonly details: Readonly<Record<string, unknown>> }[];
};

const receiver = new Address(0, Buffer.alloc(32, 0xcd));
const comment = (text: string): string => commentBody(text).toBoc().toString('base64');
const placeOf = ({ workChain, hash }: Address) => ({ workchain: workChain, id: hash });
/** v4 r1 has the address of v4 r2 in its description here, so it gets another one. */
const addresses = new Map(wallets.map(({ name }, index) => [name, new Address(0, Buffer.alloc(32, index + 1))]));
const addressOf = ({ name }: WalletUnderTest): Address => addresses.get(name)!;
const named = (name: string): WalletUnderTest => wallets.find((wallet) => wallet.name === name)!;

let setting: EmulateUnderTest;
const unknown = new Address(0, Buffer.alloc(32, 0xee));
const switchedOff = new Address(0, Buffer.alloc(32, 0xef));

beforeAll(async () => {
  const network = await startPrivateNetwork();
  const v5 = named('v5r1');
  // Without extensions, the contract takes signatures in any case.
  const extensions = Dictionary.empty(Dictionary.Keys.BigUint(256), Dictionary.Values.Int(1)).set(7n, -1);
  const noSignature = beginCell().storeBit(false).storeUint(0, 64).storeUint(0, 256).storeDict(extensions).endCell();
  await network.step([
    ...wallets.map((wallet) => putAccount(placeOf(addressOf(wallet)), wallet)),
    putAccount(placeOf(unknown), { code: Cell.EMPTY, data: Cell.EMPTY }),
    putAccount(placeOf(switchedOff), { code: v5.code, data: noSignature }),
  ]);
  setting = await startEmulateUnderTest(network);
});
afterAll(() => setting.close());

async function emulate(request: object): Promise<{ readonly status: number; readonly body: Body }> {
  const { status, body } = await setting.emulateTonConnect(request);
  return { status, body: body as unknown as Body };
}

const rootOf = ({ transactions, trace }: Body): Transaction => transactions[trace.tx_hash]!;
const transfer = { address: receiver.toString({ bounceable: false }), amount: '1000000' };

describe('a request of TON Connect', () => {
  test.each(wallets)('wallet $name sends a transfer with a comment', async (wallet) => {
    const { status, body } = await emulate({
      from: addressOf(wallet).toString(),
      messages: [{ ...transfer, payload: comment('for tea') }],
      with_actions: true,
    });
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    expect(Object.keys(body.transactions)).toHaveLength(2);
    expect(body.is_incomplete).toBe(false);
    const root = rootOf(body);
    expect(root.description.compute_ph.exit_code).toBe(0);
    expect(root.out_msgs).toMatchObject([{ value: '1000000', bounce: false }]);
    expect(body.actions).toMatchObject([{ type: 'ton_transfer', details: { comment: 'for tea', value: '1000000' } }]);
  });

  test('shows the actions of the last message first', async () => {
    const messages = [transfer, { ...transfer, amount: '2000000' }];
    const { body } = await emulate({ from: addressOf(named('v4r2')).toString(), messages, with_actions: true });
    expect(body.actions.map(({ details }) => details['value'])).toEqual(['2000000', '1000000']);
  });

  test.each(wallets)('wallet $name sends as many messages as its version takes', async (wallet) => {
    const { messagesMax } = wallet;
    const messages = Array.from({ length: messagesMax }, (_, index) => ({ ...transfer, amount: String(index + 1) }));
    const from = addressOf(wallet).toRawString();
    const { status, body } = await emulate({ from, messages });
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    expect(rootOf(body).out_msgs.map(({ value }) => value)).toEqual(messages.map(({ amount }) => amount));
    expect(Object.keys(body.transactions)).toHaveLength(messagesMax + 1);
    expect(body.is_incomplete).toBe(false);
    const refused = await emulate({ from, messages: [...messages, transfer] });
    expect(refused).toMatchObject({
      status: 422,
      body: { ok: false, code: 422, error: `messages array cannot contain more than ${messagesMax} messages` },
    });
  });

  test('a message may deploy a contract', async () => {
    const init = { code: named('v3r2').code, data: named('v3r2').data };
    const address = contractAddress(0, init);
    const stateInit = beginCell().storeUint(0b00110, 5).storeRef(init.code).storeRef(init.data).endCell();
    const { status, body } = await emulate({
      from: addressOf(named('v4r2')).toString(),
      messages: [
        { address: address.toString(), amount: String(toNano('0.1')), stateInit: stateInit.toBoc().toString('base64') },
      ],
    });
    expect(status).toBe(200);
    const child = Object.values(body.transactions).find(({ account }) => account === rawOf(address));
    expect(child?.end_status).toBe('active');
  });

  test('a currency that the wallet does not have skips the message', async () => {
    const { status, body } = await emulate({
      from: addressOf(named('v5r1')).toString(),
      messages: [{ ...transfer, extra_currency: { 100: '5' } }, transfer],
    });
    expect(status).toBe(200);
    expect(rootOf(body).description.action).toMatchObject({ skipped_actions: 1, msgs_created: 1 });
  });

  test('the form of the address decides whether a message bounces', async () => {
    const forms = [receiver.toRawString(), receiver.toString(), receiver.toString({ bounceable: false })];
    const { body } = await emulate({
      from: addressOf(named('v4r2')).toString(),
      messages: forms.map((address) => ({ address, amount: '1000000' })),
    });
    expect(rootOf(body).out_msgs.map(({ bounce }) => bounce)).toEqual([true, true, false]);
  });

  test('the time of the chosen block decides whether a request is valid', async () => {
    const from = addressOf(named('v4r2')).toString();
    const past = setting.network.head().id.seqno;
    const before = await emulate({ from, messages: [transfer] });
    await setting.network.advance(86_400);
    await setting.step();
    const at = await emulate({ from, messages: [transfer], mc_block_seqno: past });
    expect(at).toMatchObject({ status: 200, body: { mc_block_seqno: past } });
    expect(rootOf(at.body).now).toBe(rootOf(before.body).now);
    const { now } = rootOf((await emulate({ from, messages: [transfer] })).body);
    expect(now - rootOf(before.body).now).toBeGreaterThanOrEqual(86_400);
    for (const scale of [1, 1_000, 1_000_000]) {
      const valid = await emulate({ from, messages: [transfer], valid_until: (now + 60) * scale });
      expect(valid.status).toBe(200);
      const late = await emulate({ from, messages: [transfer], valid_until: (now - 60) * scale });
      expect(late).toMatchObject({
        status: 422,
        body: { error: 'external message was not accepted: exit code 36', exit_code: 36 },
      });
    }
  });

  test('the same request on the same block has the same answer', async () => {
    const request = {
      from: addressOf(named('v5r1')).toString(),
      messages: [transfer],
      rand_seed: Buffer.alloc(32, 3).toString('base64'),
      mc_block_seqno: setting.network.head().id.seqno,
    };
    expect((await emulate(request)).body).toEqual((await emulate(request)).body);
  });

  test('a wallet v5 whose signatures are switched off refuses in the words of the contract', async () => {
    const { status, body } = await emulate({ from: switchedOff.toString(), messages: [transfer] });
    expect({ status, exit_code: body.exit_code }).toEqual({ status: 422, exit_code: 132 });
    expect(body.vm_log?.length).toBeGreaterThan(0);
  });

  test('an override of the wallet counts for the message, too', async () => {
    const { code, data } = named('v3r2');
    const overrides = {
      [receiver.toRawString()]: {
        balance: String(toNano('5')),
        code: code.toBoc().toString('base64'),
        data: data.toBoc().toString('base64'),
      },
    };
    const { status, body } = await emulate({ from: receiver.toString(), messages: [transfer], overrides });
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    expect(body).toMatchObject({ overridden: true });
  });

  test.each<[string, object, string]>([
    ['no sender', { messages: [transfer] }, 'from address is required for emulation'],
    ['no messages', { from: unknown.toString(), messages: [] }, 'messages array cannot be empty'],
    ['a sender without code', { from: receiver.toString(), messages: [transfer] }, 'from is not a deployed wallet'],
    ['another contract', { from: unknown.toString(), messages: [transfer] }, 'Account is not a known wallet'],
    [
      'a message without an amount',
      { from: unknown.toString(), messages: [transfer, { address: transfer.address }] },
      'amount in message at index 1 cannot be empty',
    ],
    [
      'a time that is no time',
      { from: unknown.toString(), messages: [transfer], valid_until: 'soon' },
      'valid_until must be a Unix time',
    ],
  ])('%s is refused', async (_what, request, error) => {
    expect(await emulate(request)).toMatchObject({ status: 422, body: { ok: false, code: 422, error } });
  });
});

function rawOf({ workChain, hash }: Address): string {
  return `${workChain}:${hash.toString('hex').toUpperCase()}`;
}
