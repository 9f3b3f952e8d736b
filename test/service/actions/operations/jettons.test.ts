import { Address, beginCell, Cell, convertToMerkleProof } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  eventTrace,
  jettonTransfer,
  knownWallets,
  mintedJettons,
  open,
  transferOrder,
  type Step,
} from '#test/support/event-traces.ts';

const [user, userWallet, friend, friendWallet, jetton, stranger] = accounts(6);
const interfaces = knownWallets({ [friendWallet]: { owner: friend, jetton }, [userWallet]: { owner: user, jetton } });

const tell = (step: Step) => classify(eventTrace(user, [step]), interfaces);

describe('a transfer of jettons', () => {
  const whole = jettonTransfer({
    wallet: userWallet,
    to: { wallet: friendWallet, owner: friend },
    from: user,
    amount: 9n,
  });

  it('tells what arrived', () => {
    const ordered = { ...whole, body: transferOrder({ amount: 10n, to: friend, from: user }) };
    expect(tell(ordered).actions).toMatchObject([{ type: 'jetton_transfer', amount: 9n, destination: friend }]);
  });

  it('tells what was ordered where wallets tell one another otherwise what they hand over', () => {
    const between = beginCell().storeUint(0x178d4519, 32).storeUint(1, 8).endCell();
    const order = transferOrder({
      amount: 10n,
      to: friend,
      from: user,
      payload: beginCell().storeUint(7, 32).endCell(),
    });
    const { state, actions } = tell({ ...whole, body: order, sends: [{ to: friendWallet, body: between }] });
    expect(state).toBe('ok');
    expect(actions).toMatchObject([
      {
        type: 'jetton_transfer',
        amount: 10n,
        destination: friend,
        destinationSecondary: friendWallet,
        asset: jetton,
        data: { jetton_transfer_data: { forward_amount: 1n } },
        success: true,
      },
    ]);
  });

  it('goes to the owner of the wallet that got it, whoever the order names', () => {
    const { state, actions } = tell({ ...whole, body: transferOrder({ amount: 9n, to: stranger, from: user }) });
    expect(state).toBe('ok');
    expect(actions).toMatchObject([{ type: 'jetton_transfer', destination: friend, success: true }]);
  });

  it('is only its calls when the order names no destination', () => {
    const body = open(0x0f8a7ea5).storeCoins(9).storeAddress(null).storeAddress(null).storeBit(false).storeCoins(0);
    const { state, actions } = tell({ ...whole, body: body.storeBit(false).endCell() });
    expect(state).toBe('ok');
    expect(new Set(actions.map(({ type }) => type))).toEqual(new Set(['call_contract']));
  });

  it.each([
    ['in a reference', transferOrder({ amount: 10n, to: friend, from: user, payload: beginCell().endCell() })],
    ['where it stands', transferOrder({ amount: 10n, to: friend, from: user })],
    [
      'but a reference',
      transferOrder({ amount: 10n, to: friend, from: user, payload: beginCell().storeRef(beginCell()).endCell() }),
    ],
  ])('tells of no payload that is nothing %s', (_where, body) => {
    expect(tell({ ...whole, body }).actions).toMatchObject([
      { data: { jetton_transfer_data: { forward_payload: null, comment: null, is_encrypted_comment: false } } },
    ]);
  });
});

const orderWith = (custom: Cell, forwarded: Cell) =>
  open(0x0f8a7ea5)
    .storeCoins(9)
    .storeAddress(Address.parse(friend))
    .storeAddress(Address.parse(user))
    .storeMaybeRef(custom)
    .storeCoins(1)
    .storeMaybeRef(forwarded)
    .endCell();

describe('a transfer that passes on a cell that no slice opens', () => {
  const exotic = convertToMerkleProof(beginCell().storeUint(5, 32).endCell());
  const plain = beginCell().storeUint(7, 32).endCell();

  it.each([
    ['for the wallet', exotic, plain],
    ['for the receiver', plain, exotic],
    ['for both', exotic, exotic],
  ])('%s is told with it', (_whom, custom, forwarded) => {
    const whole = jettonTransfer({
      wallet: userWallet,
      to: { wallet: friendWallet, owner: friend },
      from: user,
      amount: 9n,
    });
    const { actions } = tell({ ...whole, body: orderWith(custom, forwarded) });
    expect(actions).toMatchObject([{ type: 'jetton_transfer', amount: 9n, destination: friend }]);
    const values = actions[0]!.data['jetton_transfer_data'] as Readonly<Record<string, string>>;
    expect(Cell.fromBase64(values['custom_payload']!).equals(custom)).toBe(true);
    expect(Cell.fromBase64(values['forward_payload']!).equals(forwarded)).toBe(true);
    expect(values).toMatchObject({ comment: null, is_encrypted_comment: false });
  });
});

describe('what comes to nothing although nobody paid for it', () => {
  const undone = { value: 0n, aborted: true };
  const internal: Step = { to: friendWallet, body: mintedJettons(9n), ...undone };
  const burnOrder = open(0x595f07bc).storeCoins(9).storeAddress(null).storeBit(false).endCell();
  const mintOrder = open(0x15).storeAddress(Address.parse(friend)).storeCoins(3).storeRef(mintedJettons(9n)).endCell();

  it.each<[type: string, step: Step]>([
    // Whoever makes a wallet of their own can have it send this to anybody's.
    [
      'jetton_transfer',
      { to: stranger, body: transferOrder({ amount: 9n, to: friend, from: user }), sends: [internal] },
    ],
    ['jetton_mint', { to: stranger, body: mintOrder, sends: [internal] }],
    ['jetton_burn', { to: userWallet, body: burnOrder, ...undone }],
  ])('%s failed', (type, step) => {
    expect(tell(step).actions).toMatchObject([{ type, success: false }]);
  });
});

describe('an order to mint jettons', () => {
  const toFriend = open(0x15).storeAddress(Address.parse(friend)).storeCoins(3);
  const order = toFriend.storeRef(mintedJettons(9n)).endCell();
  const arrived: Step = { to: friendWallet, body: mintedJettons(8n) };

  it('tells what arrived, of the jetton that the wallet is of', () => {
    expect(tell({ to: stranger, body: order, sends: [arrived] }).actions).toMatchObject([
      {
        type: 'jetton_mint',
        destination: friend,
        destinationSecondary: friendWallet,
        asset: jetton,
        amount: 8n,
        value: 3n,
        success: true,
      },
    ]);
  });

  it('fails with what it was to bring when nothing followed', () => {
    expect(tell({ to: jetton, body: order }).actions).toMatchObject([
      { type: 'jetton_mint', destination: friend, asset: jetton, amount: 9n, success: false },
    ]);
  });

  it.each([
    ['nothing', open(0x15).storeAddress(Address.parse(friend)).storeCoins(3).endCell()],
    ['something else', open(0x15).storeAddress(Address.parse(friend)).storeCoins(3).storeRef(beginCell()).endCell()],
  ])('is none when the order brings %s that a minter would send', (_what, body) => {
    for (const sends of [[], [arrived]]) {
      const { state, actions } = tell({ to: jetton, body, sends });
      expect(state).toBe('ok');
      expect(actions.filter(({ type }) => type === 'jetton_mint')).toEqual([]);
    }
  });

  it('may go to nobody', () => {
    const body = open(0x642b7d07).storeAddress(null).storeCoins(3).endCell();
    expect(tell({ to: jetton, body }).actions).toMatchObject([
      { type: 'jetton_mint', destination: null, amount: null, success: false },
    ]);
  });
});
