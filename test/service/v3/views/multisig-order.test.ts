import { Address, beginCell, Cell, comment, Dictionary, internal, storeMessageRelaxed } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { accountsOfActions, readOrderActions, type OrderAction } from '#service/v3/views/multisig-order.ts';
import { orderOf, sendStep, updateStep } from '#test/support/multisig-orders.ts';

const account = (byte: number): Address => new Address(0, Buffer.alloc(32, byte));
const raw = (byte: number): string => `0:${Buffer.alloc(32, byte).toString('hex').toUpperCase()}`;
const [one, two, three] = [account(1), account(2), account(3)];

/** The first bits of a body: its opcode and a number. */
const head = (opcode: number, queryId: number | bigint = 7) => beginCell().storeUint(opcode, 32).storeUint(queryId, 64);
const base64 = (cell: Cell): string => cell.toBoc().toString('base64');
const same = (text: unknown, cell: Cell): boolean => Cell.fromBase64(String(text)).equals(cell);

const actionsOf = (...steps: readonly Cell[]): readonly OrderAction[] => [...readOrderActions(orderOf(steps).toBoc())];
function bodyOf(body: Cell): OrderAction {
  const [action] = actionsOf(sendStep({ to: one, value: 5n, body }));
  expect(same(action!.body_raw, body)).toBe(true);
  return action!;
}

const text = commentBody('for tea');
const custom = beginCell().storeUint(9, 8).endCell();

/** `transfer#0f8a7ea5` as TEP-74 has it, with a payload in a reference. */
function jettonTransfer(payload: Cell | null): Cell {
  const start = head(0x0f8a7ea5).storeCoins(100n).storeAddress(one).storeAddress(null).storeMaybeRef(custom);
  const sent = start.storeCoins(3n);
  return payload === null ? sent.storeBit(false).endCell() : sent.storeBit(true).storeRef(payload).endCell();
}

describe('an order', () => {
  it('is shown step by step, in the order of the contract', () => {
    const actions = actionsOf(
      sendStep({ to: one, value: 5n, body: comment('first'), mode: 3 }),
      updateStep({ threshold: 2, signers: [two, one], proposers: [three] }),
      sendStep({ to: two, value: 0n, mode: 130 }),
    );
    expect(actions).toMatchObject([
      {
        destination: raw(1),
        value: '5',
        parsed: true,
        error: null,
        parsed_body_type: 'ton_transfer',
        parsed_body: { comment: 'first', encrypted: false },
        send_mode: 3,
      },
      {
        destination: null,
        value: null,
        body_raw: null,
        parsed: true,
        error: null,
        parsed_body_type: 'multisig_update_params',
        parsed_body: { new_threshold: 2, new_signers: [raw(2), raw(1)], new_proposers: [raw(3)] },
        send_mode: 0,
      },
      { destination: raw(2), value: '0', parsed_body: { comment: '', encrypted: false }, send_mode: 130 },
    ]);
    expect([...accountsOfActions(actions)]).toEqual([raw(1), raw(2), raw(1), raw(3), raw(2)]);
  });

  it('without proposers has null in place of them', () => {
    const [action] = actionsOf(updateStep({ threshold: 1, signers: [one], proposers: [] }));
    expect(action!.parsed_body).toEqual({ new_threshold: 1, new_signers: [raw(1)], new_proposers: null });
  });

  it('that cannot be read says so, all of it or the step that cannot', () => {
    const unreadable = { destination: null, value: null, body_raw: null, parsed: false, parsed_body: null };
    const nothing = { ...unreadable, parsed_body_type: 'unknown', send_mode: 0 };
    const error = expect.stringMatching(/^failed to parse order: /);
    expect([...readOrderActions(Buffer.from('no bag'))]).toEqual([{ ...nothing, error }]);
    expect([...readOrderActions(beginCell().endCell().toBoc())]).toEqual([{ ...nothing, error }]);
    const strange = beginCell().storeUint(0xdeadbeef, 32).endCell();
    const short = beginCell().storeUint(0xf1381e5b, 32).storeUint(1, 8).endCell();
    expect(actionsOf(strange, short, sendStep({ to: one, value: 1n }))).toMatchObject([
      { ...nothing, error: 'failed to parse order action: unknown order action type: 3735928559' },
      { ...nothing, error: expect.stringMatching(/^failed to parse order action: /) },
      { parsed: true, destination: raw(1) },
    ]);
  });

  it('whose steps share one large body is shown up to a megabyte', () => {
    let chain = beginCell().endCell();
    for (let at = 0; at < 500; at++) chain = beginCell().storeBuffer(Buffer.alloc(120, at)).storeRef(chain).endCell();
    const body = beginCell().storeUint(0x12345678, 32).storeRef(chain).endCell();
    const actions = actionsOf(...Array.from({ length: 200 }, () => sendStep({ to: one, value: 1n, body })));
    expect(actions).toHaveLength(200);
    const told = actions.filter(({ parsed }) => parsed);
    expect(told.length).toBeGreaterThan(3);
    expect(told.reduce((sum, { body_raw: boc }) => sum + boc!.length, 0)).toBeLessThan(2 << 20);
    expect(actions.at(-1)).toMatchObject({ parsed: false, error: expect.stringContaining('order action') });
  });
});

describe('the body of a message of an order', () => {
  it('that is a comment is a transfer of TON; a short one has none', () => {
    const encrypted = beginCell()
      .storeUint(0x2167da4b, 32)
      .storeBuffer(Buffer.from([255, 1]))
      .endCell();
    const short = beginCell().storeUint(1, 8).endCell();
    expect([text, encrypted, short].map((body) => bodyOf(body).parsed_body)).toEqual([
      { comment: 'for tea', encrypted: false },
      { comment: Buffer.from([255, 1]).toString('base64'), encrypted: true },
      { comment: '', encrypted: false },
    ]);
  });

  const transfer = { query_id: 7, amount: '100', destination: raw(1), response: null, forward_amount: '3' };
  const silent = { comment: '', encrypted_comment: false, payload_sum_type: '', stonfi_swap_body: null };
  const secret = beginCell().storeUint(0x2167da4b, 32).storeBuffer(Buffer.from('??')).endCell();
  const swap = beginCell().storeUint(0x25938561, 32).storeAddress(two).storeCoins(9n).storeAddress(three).endCell();
  const swapBody = { jetton_wallet: raw(2), min_amount: '0.000000009', user_address: raw(3) };

  it.each([
    [0n, '0'],
    [9n, '0.000000009'],
    [1_000_000_000n, '1'],
    [12_345_678_900n, '12.3456789'],
    [100_000_000_000n, '100'],
  ])('that swaps for at least %d units shows %s', (units, shown) => {
    const least = beginCell().storeUint(0x25938561, 32).storeAddress(two).storeCoins(units).storeAddress(three);
    const { parsed_body: fields } = bodyOf(jettonTransfer(least.endCell()));
    expect(fields).toMatchObject({ stonfi_swap_body: { min_amount: shown } });
  });

  it.each<[what: string, payload: Cell | null, told: object]>([
    ['nothing', null, {}],
    ['a text', text, { comment: 'for tea', payload_sum_type: 'TextComment' }],
    [
      'an encrypted text',
      secret,
      { comment: 'Pz8=', encrypted_comment: true, payload_sum_type: 'EncryptedTextComment' },
    ],
    ['a swap', swap, { payload_sum_type: 'StonfiSwap', stonfi_swap_body: swapBody }],
    ['a swap cut off', beginCell().storeUint(0x25938561, 32).endCell(), { payload_sum_type: 'StonfiSwap' }],
    ['something else', beginCell().storeUint(77, 32).endCell(), { payload_sum_type: 'Unknown' }],
    ['less than an opcode', beginCell().storeUint(7, 9).endCell(), { payload_sum_type: 'Unknown' }],
  ])('that transfers jettons with %s', (_what, payload, told) => {
    const action = bodyOf(jettonTransfer(payload));
    const { custom_payload: customBoc, forward_payload: forwardBoc, ...rest } = action.parsed_body!;
    expect(action.parsed_body_type).toBe('jetton_transfer');
    expect(rest).toEqual({ ...transfer, ...silent, ...told });
    expect(same(customBoc, custom)).toBe(true);
    expect(payload === null ? forwardBoc === null : same(forwardBoc, payload)).toBe(true);
  });

  it('may have the payload of jettons in place', () => {
    const start = head(0x0f8a7ea5)
      .storeCoins(1n)
      .storeAddress(one)
      .storeAddress(two)
      .storeMaybeRef(null)
      .storeCoins(0n);
    const { parsed_body: fields } = bodyOf(start.storeBit(false).storeSlice(text.beginParse()).endCell());
    expect(fields).toMatchObject({ response: raw(2), custom_payload: null, comment: 'for tea' });
    expect(same(fields!['forward_payload'], text)).toBe(true);
  });

  const minted = head(0x178d4519, 8).storeCoins(1000n).endCell();
  const mint = {
    query_id: 7,
    to_address: raw(1),
    ton_amount: '50',
    jetton_amount: '1000',
    master_msg_query_id: 8,
    master_msg_jetton_amount: '1000',
  };
  const freeze = beginCell().storeUint(0xeed236d3, 32).storeUint(7, 64).storeUint(3, 4).endCell();
  const sent = beginCell()
    .store(storeMessageRelaxed(internal({ to: two, value: 8n, bounce: true, body: text })))
    .endCell();

  it.each<[type: string, body: Cell, fields: Readonly<Record<string, unknown>>]>([
    [
      'jetton_burn',
      head(0x595f07bc).storeCoins(4n).storeAddress(one).storeMaybeRef(null).endCell(),
      { query_id: 7, amount: '4', response_destination: raw(1) },
    ],
    [
      'jetton_mint',
      head(0x642b7d07).storeAddress(one).storeCoins(50n).storeRef(minted).endCell(),
      { opcode: 0x642b7d07, ...mint },
    ],
    ['jetton_mint', head(21).storeAddress(one).storeCoins(50n).storeRef(minted).endCell(), { opcode: 21, ...mint }],
    ['jetton_top_up', head(0xd372158c).endCell(), { query_id: 7 }],
    ['jetton_top_up', head(0x9fd3).endCell(), { query_id: 7 }],
    ['jetton_claim_admin', head(0xfb88e119).endCell(), { query_id: 7 }],
    ['jetton_change_admin', head(0x6501f354).storeAddress(one).endCell(), { query_id: 7, new_admin_address: raw(1) }],
    [
      'jetton_change_content',
      head(0xcb862902).storeStringTail('https://a.example/b').endCell(),
      { query_id: 7, new_metadata_url: 'https://a.example/b' },
    ],
    [
      'jetton_call_to',
      head(0x235caf52).storeAddress(one).storeCoins(6n).storeRef(freeze).endCell(),
      { query_id: 7, to_address: raw(1), ton_amount: '6', action_type: 'JettonSetStatus', action_data: base64(freeze) },
    ],
    ['jetton_set_status', freeze, { query_id: 7, new_status: 3 }],
    [
      'nft_transfer',
      head(0x5fcc3d14)
        .storeAddress(one)
        .storeAddress(two)
        .storeMaybeRef(custom)
        .storeCoins(2n)
        .storeBit(true)
        .storeRef(text)
        .endCell(),
      {
        query_id: 7,
        new_owner: raw(1),
        response_destination: raw(2),
        custom_payload: base64(custom),
        forward_amount: '2',
        forward_payload: base64(text),
      },
    ],
    ['single_nominator_withdraw', head(0x1000).storeCoins(3n).endCell(), { query_id: 7, coins: '3' }],
    [
      'single_nominator_change_validator',
      head(0x1001).storeAddress(one).endCell(),
      { query_id: 7, validator_address: raw(1) },
    ],
    [
      'vesting_internal_transfer',
      head(0xa7733acd).storeUint(3, 8).storeRef(sent).endCell(),
      {
        query_id: 7,
        send_mode: 3,
        destination: raw(2),
        value: '8',
        message_body: base64(text),
        comment: 'for tea',
      },
    ],
    ['unknown', head(0x11223344).endCell(), { opcode: 0x11223344, data: base64(head(0x11223344).endCell()) }],
    ['unknown', beginCell().storeUint(0x595f07bc, 32).endCell(), expect.objectContaining({ opcode: 0x595f07bc })],
  ])('is %s', (type, body, fields) => {
    const action = bodyOf(body);
    expect([action.parsed_body_type, action.parsed_body]).toEqual([type, fields]);
    expect(action.parsed).toBe(true);
  });

  it('has query ids with all their digits', () => {
    const { parsed_body: fields } = bodyOf(head(0x9fd3, 2n ** 64n - 1n).endCell());
    expect(JSON.stringify(fields)).toBe('{"query_id":18446744073709551615}');
  });

  it('names accounts for the address book, wherever they stand', () => {
    const bodies = [jettonTransfer(swap), head(0x5fcc3d14).storeAddress(three).endCell(), comment(raw(9))];
    const actions = actionsOf(...bodies.map((body) => sendStep({ to: one, value: 1n, body })));
    expect([...accountsOfActions(actions)]).toEqual([raw(1), raw(1), raw(2), raw(3), raw(1), raw(1)]);
  });
});

it('every order of at most 255 steps is shown whole', () => {
  const steps = Array.from({ length: 255 }, (_, at) =>
    sendStep({ to: one, value: BigInt(at), body: comment(`${at}`) }),
  );
  const actions = actionsOf(...steps);
  expect(actions.map(({ value }) => value)).toEqual(steps.map((_, at) => `${at}`));
  const keys = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Cell());
  keys.set(255, steps[0]!).set(4, steps[1]!);
  const order = beginCell().storeDictDirect(keys).endCell();
  expect([...readOrderActions(order.toBoc())].map(({ value }) => value)).toEqual(['1', '0']);
});

it('shows a message of 7,900 cells in the body and in the parsed body', () => {
  let level = Array.from({ length: 5926 }, (_one, at) => beginCell().storeUint(at, 64).endCell());
  let cells = level.length;
  while (level.length > 1) {
    level = Array.from({ length: Math.ceil(level.length / 4) }, (_one, at) => {
      const parent = beginCell().storeUint(level.length, 32).storeUint(at, 32);
      for (const child of level.slice(at * 4, at * 4 + 4)) parent.storeRef(child);
      return parent.endCell();
    });
    cells += level.length;
  }
  expect(cells).toBeGreaterThan(7_900);
  const body = jettonTransfer(level[0]!);
  const [action] = actionsOf(sendStep({ to: one, value: 5n, body }));
  expect(action).toMatchObject({ parsed: true, error: null, parsed_body_type: 'jetton_transfer' });
  expect(same(action!.body_raw, body)).toBe(true);
  expect(same(action!.parsed_body?.['forward_payload'], level[0]!)).toBe(true);
});
