import { beginCell, Cell } from '@ton/core';

import { wallets } from '#test/service/emulate/ton-connect/wallets-under-test.ts';
import { oneOf, type Draw } from './draw.ts';
import type { EmulateBody } from './emulate-bodies.ts';
import type { ForkedNetwork } from './forked-network.ts';
import { base64, deep, noise, sharedTree, spoilBoc } from './hostile-values.ts';

const TON = '1000000000';
const stranger = `0:${'6'.repeat(64)}`;

/** Good bodies for `emulateTonConnect`: of wallets of all versions, most of which the request itself makes. */
export function tonConnectBodies(forked: ForkedNetwork): readonly EmulateBody[] {
  const w3 = forked.wallet('w3').address.toRawString();
  const plain = { address: stranger, amount: '5' };
  const payload = base64(beginCell().storeUint(0, 32).storeStringTail('for a coffee').endCell());
  const whole = {
    address: forked.address('jetton_minter').toString(),
    amount: TON,
    payload,
    stateInit: base64(beginCell().storeUint(0, 5).endCell()),
    extra_currency: { '100': '1' },
  };
  return [
    { from: w3, messages: [plain] },
    { from: w3, messages: [whole, plain, { ...plain, payload: base64(sharedTree(40)) }], valid_until: 2_000_000_000 },
    ...wallets.map(({ address, code, data, messagesMax }) => ({
      from: address.toRawString(),
      messages: Array.from({ length: Math.min(messagesMax, 5) }, () => plain),
      overrides: { [address.toRawString()]: { balance: `${TON}000`, code: base64(code), data: base64(data) } },
    })),
  ];
}

const fields = ['from', 'messages', 'valid_until', 'with_actions', 'mc_block_seqno', 'rand_seed', 'overrides', 'boc'];
const messageFields = ['address', 'amount', 'payload', 'stateInit', 'extra_currency', 'unknown_field'];

/** Values that a field nearly takes. */
const near: Readonly<Record<string, readonly unknown[]>> = {
  from: [`-1:${'3'.repeat(64)}`, stranger, `${stranger}0`, 'EQ'],
  valid_until: [0, -1, 1.5, 2 ** 32, 1_795_000_000_000, '1795000000', 10 ** 18],
  address: [`-1:${'3'.repeat(64)}`, `1000:${'3'.repeat(64)}`, 'EQ'],
  amount: ['0', '-1', '1.5', (2n ** 120n - 1n).toString(), (2n ** 120n).toString(), 5],
  payload: [base64(deep(509)), base64(deep(600)), base64(Cell.EMPTY)],
  stateInit: [base64(deep(509)), base64(Cell.EMPTY), 'te6cc'],
  extra_currency: [{}, { '1': '0' }, { '4294967296': '1' }, { '1': (2n ** 248n).toString() }, { '01': '1', '1': '1' }],
};

/** Drops or replaces a field of a body, or of one of its messages. */
export function spoilRequest(draw: Draw, body: Record<string, unknown>): void {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0 || draw(3) === 0) return spoilField(draw, body, fields);
  const kind = draw(12);
  if (kind === 0) body['messages'] = Array.from({ length: 300 }, () => messages[0] as unknown);
  else if (kind === 1) messages[draw(messages.length)] = oneOf(draw, noise);
  else {
    const at = draw(messages.length);
    const message = { ...(messages[at] as object) };
    spoilField(draw, message, messageFields);
    messages[at] = message;
  }
}

function spoilField(draw: Draw, body: Record<string, unknown>, names: readonly string[]): void {
  const field = oneOf(draw, names);
  const value = body[field];
  if (draw(6) === 0) delete body[field];
  else if (typeof value === 'string' && value.startsWith('te6cc') && draw(2) === 0) {
    body[field] = spoilBoc(draw, value);
  } else body[field] = oneOf(draw, draw(3) > 0 ? (near[field] ?? noise) : noise);
}
