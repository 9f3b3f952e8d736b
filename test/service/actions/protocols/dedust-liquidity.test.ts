import { Address, beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  bareBody,
  eventTrace,
  jettonTransfer,
  knownWallets,
  mintedJettons,
  open,
  type Step,
} from '#test/support/event-traces.ts';

const [
  user,
  userWallet,
  tonVault,
  jettonVault,
  vaultWallet,
  factory,
  contract,
  pool,
  sharesWallet,
  jetton,
  otherJetton,
  relay,
] = accounts(12);

const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [vaultWallet]: { owner: jettonVault, jetton },
  [sharesWallet]: { owner: user, jetton: pool },
});

const tonAsset = beginCell().storeUint(0, 4);
const assetOf = (master: string) => beginCell().storeUint(1, 4).storeInt(0, 8).storeBuffer(Address.parse(master).hash);

/** What a vault has the deposit's contract told of. */
const topUp = (sends: readonly Step[]): Step => ({
  to: factory,
  body: bareBody(0xf04ec526),
  sends: [
    { to: contract, body: bareBody(0x9b3aa3fa) },
    { to: contract, body: bareBody(0x54240fe5), sends },
  ],
});

/** 30 TON of a pool of TON and jettons. */
function tonHalf(master: string, sends: readonly Step[] = []): Step {
  const body = open(0xd55e4686)
    .storeCoins(30)
    .storeBit(false)
    .storeBuilder(tonAsset)
    .storeBuilder(assetOf(master))
    .storeRef(beginCell().storeCoins(0).storeCoins(30).storeCoins(50));
  return { to: tonVault, body: body.endCell(), sends: [topUp(sends)] };
}

const jettonHalf = (sends: readonly Step[]): Step =>
  jettonTransfer({
    wallet: userWallet,
    to: { wallet: vaultWallet, owner: jettonVault },
    from: user,
    amount: 50n,
    sends: [topUp(sends)],
  });

/** Both assets into the pool. */
function payIn(sends: readonly Step[]): Step {
  const targets = beginCell().storeBuilder(tonAsset).storeCoins(30).storeBuilder(assetOf(jetton)).storeCoins(50);
  const body = open(0xb56b9598).storeRef(beginCell()).storeAddress(Address.parse(user)).storeCoins(0).storeRef(targets);
  return { to: pool, body: body.endCell(), sends };
}

const minted = payIn([{ to: sharesWallet, body: mintedJettons(70n) }]);

/** The contract's vaults give back 4 TON each, to the one and to the other. */
const giveBack = (...owners: readonly string[]): Step => ({
  to: contract,
  body: bareBody(0xe1a36cd4),
  sends: owners.map((owner) => ({
    to: tonVault,
    body: bareBody(0x6b0b787f),
    sends: [{ to: owner, body: bareBody(0x474f86cf), value: 4n }],
  })),
});

function depositsOf(steps: readonly Step[]) {
  const trace = eventTrace(user, steps);
  const { state, actions } = classify(trace, interfaces);
  expect(state).toBe('ok');
  return { trace, deposits: actions.filter(({ type }) => type === 'dex_deposit_liquidity') };
}

const ofBoth = {
  dex: 'dedust',
  amount1: 30n,
  asset1: null,
  user_jetton_wallet_1: null,
  amount2: 50n,
  asset2: jetton,
  user_jetton_wallet_2: userWallet,
  target_asset_1: null,
  target_asset_2: jetton,
  lp_tokens_minted: 70n,
  vault_excesses: [],
};

const relayed = (half: Step): Step => ({ to: relay, body: bareBody(0x11), sends: [half] });

describe('a deposit into a pool of DeDust', () => {
  it('is one action of both halves, which do not follow each other', () => {
    const { trace, deposits } = depositsOf([tonHalf(jetton), jettonHalf([minted])]);
    expect(deposits).toMatchObject([
      {
        source: user,
        destination: pool,
        destinationSecondary: contract,
        success: true,
        data: { dex_deposit_liquidity_data: ofBoth },
      },
    ]);
    expect(new Set(deposits[0]!.transactions)).toEqual(new Set(trace.transactions.map(({ hash }) => hash)));
  });

  it.each([
    ['first', [relayed(tonHalf(jetton)), jettonHalf([minted])]],
    ['last', [tonHalf(jetton), relayed(jettonHalf([minted]))]],
  ])('has the transactions of both that began it, when somebody sent on the half that came %s', (_which, halves) => {
    const { trace, deposits } = depositsOf(halves);
    expect(deposits).toHaveLength(1);
    expect(new Set(deposits[0]!.transactions)).toEqual(new Set(trace.transactions.map(({ hash }) => hash)));
  });

  it('stays two actions when the halves are of different pools', () => {
    const { deposits } = depositsOf([tonHalf(otherJetton), jettonHalf([minted])]);
    expect(deposits.map(({ destination }) => destination)).toEqual([null, pool]);
  });

  it('stays as it is when its contract took more than two halves', () => {
    const { deposits } = depositsOf([tonHalf(jetton), tonHalf(jetton), jettonHalf([minted])]);
    expect(deposits).toHaveLength(3);
  });

  it('failed when the pool refused it, and what came back to others is not told', () => {
    const { deposits } = depositsOf([tonHalf(jetton, [payIn([giveBack(user, relay)])])]);
    expect(deposits).toMatchObject([
      {
        success: false,
        data: {
          dex_deposit_liquidity_data: {
            amount1: 30n,
            lp_tokens_minted: null,
            vault_excesses: [{ asset: null, amount: 4n }],
          },
        },
      },
    ]);
  });
});
