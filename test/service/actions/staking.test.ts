import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  bareBody,
  eventTrace,
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
