import { Address, beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  bareBody,
  eventTrace,
  jettonTransfer,
  knownWallets,
  mintedJettons,
  open,
  transferOrder,
  type Step,
} from '#test/support/event-traces.ts';

const [user, stakedWallet, staked, pool, locked, lockedWallet, stranger] = accounts(7);

/** Staked dollars, taken by their master itself, for ones that are locked. */
const withdrawal: Step = {
  to: stakedWallet,
  body: transferOrder({ amount: 100n, to: pool, from: user }),
  sends: [
    {
      to: staked,
      body: mintedJettons(100n),
      sends: [
        {
          to: pool,
          body: bareBody(0x7362d09c),
          sends: [
            {
              to: locked,
              body: bareBody(0x642b7d07),
              sends: [
                {
                  to: lockedWallet,
                  body: open(0xb2583ed5).storeCoins(98).storeUint(0, 2).storeUint(0, 2).storeCoins(0).endCell(),
                },
              ],
            },
          ],
        },
      ],
    },
  ],
};

const wallets = {
  [stakedWallet]: { owner: user, jetton: staked },
  [lockedWallet]: { owner: user, jetton: locked },
};

const requestsWith = (known: Parameters<typeof knownWallets>[0]) =>
  classify(eventTrace(user, [withdrawal]), knownWallets(known)).actions.filter(
    ({ type }) => type === 'stake_withdrawal_request',
  );

describe('dollars that are taken out of Ethena', () => {
  it('are asked for, against ones that are locked for a time', () => {
    expect(requestsWith(wallets)).toMatchObject([
      {
        source: user,
        sourceSecondary: stakedWallet,
        destination: pool,
        asset: staked,
        amount: 100n,
        data: { staking_data: { provider: 'ethena', tokens_minted: 98n } },
        success: true,
      },
    ]);
  });

  it.each([
    ['the wallet that pays is of other jettons', { ...wallets, [stakedWallet]: { owner: user, jetton: stranger } }],
    ['the wallet that pays is another’s', { ...wallets, [stakedWallet]: { owner: stranger, jetton: staked } }],
    ['what is locked are other jettons', { ...wallets, [lockedWallet]: { owner: user, jetton: stranger } }],
    ['what is locked is another’s', { ...wallets, [lockedWallet]: { owner: stranger, jetton: locked } }],
    ['nothing is known of the wallets', {}],
  ])('are not when %s', (_case, known) => {
    expect(requestsWith(known)).toEqual([]);
  });
});

const master = '0:D0E545323C7ACB7102653C073377F7E3C67F122EB94D430A250739F109D4A57D';
const dollar = '0:086FA2A675F74347B08DD4606A549B8FDB98829CB282BC1949D3B12FBAED9DCC';

describe('dollars that are staked at Ethena', () => {
  it('do not take along what the master has left over', () => {
    const minted: Step = {
      to: master,
      body: open(0x642b7d07).storeAddress(Address.parse(user)).storeCoins(1).endCell(),
      sends: [
        { to: stakedWallet, body: mintedJettons(5n) },
        { to: stranger, body: bareBody(0xd53276db) },
      ],
    };
    const steps = [
      jettonTransfer({
        wallet: locked,
        to: { wallet: lockedWallet, owner: pool },
        from: user,
        amount: 5n,
        sends: [minted],
      }),
    ];
    const known = knownWallets({
      [lockedWallet]: { owner: pool, jetton: dollar },
      [stakedWallet]: { owner: user, jetton: master },
    });
    const { actions } = classify(eventTrace(user, steps), known);
    expect(actions.map(({ type }) => type)).toEqual(['stake_deposit', 'call_contract']);
    expect(actions[0]).toMatchObject({ source: user, destination: pool, amount: 5n, success: true });
    expect(actions[0]?.accounts).not.toContain(stranger);
  });
});

const depositing = (sends: readonly Step[]) =>
  classify(
    eventTrace(user, [{ to: pool, body: bareBody(0x47d54391), value: 11_000_000_000n, sends }]),
    knownWallets({}),
  );

describe('a deposit into liquid staking', () => {
  const minting: Step = {
    to: staked,
    body: bareBody(0x1674b0a0),
    sends: [{ to: stakedWallet, body: mintedJettons(9n) }],
  };
  it('brings what the pool mints', () => {
    expect(depositing([minting]).actions).toMatchObject([
      {
        type: 'stake_deposit',
        source: user,
        destination: pool,
        asset: staked,
        amount: 10_000_000_000n,
        data: { staking_data: { tokens_minted: 9n } },
        success: true,
      },
    ]);
  });

  it.each([
    ['nothing', []],
    ['an order to mint that comes to nothing', [{ ...minting, sends: [] }]],
  ])('is none when the pool sends %s', (_what, sends) => {
    const { state, actions } = depositing(sends);
    expect(state).toBe('ok');
    expect(new Set(actions.map(({ type }) => type))).toEqual(new Set(['call_contract']));
  });
});

const bill = accounts(8)[7];

const asking = (minted: readonly Step[]): Step => ({
  to: stakedWallet,
  body: open(0x595f07bc).storeCoins(9).storeAddress(null).endCell(),
  sends: [
    {
      to: staked,
      body: bareBody(0x7bdd97de),
      sends: [
        { to: pool, body: bareBody(0x319b0cdc), sends: [{ to: locked, body: bareBody(0x1674b0a0), sends: minted }] },
      ],
    },
  ],
});

describe('a bill of liquid staking', () => {
  const paying = (paid: Partial<Step>): Step => ({
    to: bill,
    body: bareBody(0xf127fe4e),
    sends: [
      {
        to: staked,
        body: open(0xed58b0b2).storeCoins(9).storeAddress(Address.parse(user)).endCell(),
        sends: [{ to: user, body: bareBody(0xdb3b8abd), value: 10n, ...paid }],
      },
    ],
  });

  it.each([false, true])('is paid whatever its owner makes of the message: %s', (aborted) => {
    const { actions } = classify(eventTrace(pool, [paying({ aborted })]), knownWallets({}));
    expect(actions).toMatchObject([{ type: 'stake_withdrawal', source: user, amount: 10n, success: true }]);
  });

  it.each([
    ['a bill', [{ to: bill, body: bareBody(0x132f9a45) }], bill, true],
    ['nothing', [], null, false],
  ])('is asked for, and %s is what comes of it', (_what, minted, nft, success) => {
    const { actions } = classify(eventTrace(user, [asking(minted)]), knownWallets({}));
    const [asked] = actions.filter(({ type }) => type === 'stake_withdrawal_request');
    expect(asked).toMatchObject({ source: user, amount: 9n, success });
    expect(asked?.data['staking_data']).toMatchObject({ ts_nft: nft });
  });
});

const toPool = (text: string, sends: readonly Step[], aborted = false): Step => ({
  to: pool,
  body: commentBody(text),
  value: 10n,
  aborted,
  sends,
});

describe('a pool of nominators', () => {
  const known = { ...knownWallets({}), isNominatorPool: (account: string) => account === pool };
  const bounced: Step = { to: user, body: bareBody(0xffffffff), value: 9n };
  const paid = (value: bigint): Step => ({ to: user, body: beginCell().endCell(), value });

  it.each([
    ['d', 'stake_deposit'],
    ['w', 'stake_withdrawal_request'],
  ])('gives back what it does not take, as a part of the same action: %s', (text, type) => {
    const { actions } = classify(eventTrace(user, [toPool(text, [bounced], true)]), known);
    expect(actions).toMatchObject([{ type, source: user, destination: pool, success: false }]);
    expect(actions[0]?.transactions).toHaveLength(3);
  });

  it.each([
    [[paid(9n)], ['stake_withdrawal_request'], null],
    [[paid(11n)], ['stake_withdrawal'], 11n],
    [[paid(8n), paid(9n)], ['stake_withdrawal'], 8n],
    [
      [paid(8n), paid(9n), paid(7n)],
      ['stake_withdrawal_request', 'ton_transfer', 'ton_transfer', 'ton_transfer'],
      null,
    ],
  ])('pays, or takes a request, as it answers', (answers, types, amount) => {
    const { actions } = classify(eventTrace(user, [toPool('w', answers)]), known);
    expect(actions.map(({ type }) => type)).toEqual(types);
    expect(actions[0]).toMatchObject({ amount });
  });

  it.each([false, true])('pays what was asked for before, whatever a nominator makes of the message: %s', (aborted) => {
    const told: Step = {
      to: pool,
      body: bareBody(2),
      sends: [
        { ...paid(7n), aborted },
        { ...paid(8n), to: stranger },
      ],
    };
    const { actions } = classify(eventTrace(user, [told]), known);
    expect(actions.filter(({ type }) => type === 'stake_withdrawal')).toMatchObject([
      { source: user, destination: pool, amount: 7n, success: true },
      { source: stranger, destination: pool, amount: 8n, success: true },
    ]);
  });
});
