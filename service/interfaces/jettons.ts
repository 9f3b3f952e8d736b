import { accountKey } from '../store/account-key.ts';
import { readStoredContent } from '../live/tokens/token-content.ts';
import { addressEntry, isNamed } from './address-entry.ts';
import type { Family } from './family.ts';
import { keyOrNull, rawOf } from './raw-address.ts';
import { account, accountOrNone, cell, flag, int, stackShape } from './stack-shape.ts';

const masterData = stackShape({
  totalSupply: int,
  mintable: flag,
  admin: accountOrNone,
  content: cell,
  walletCode: cell,
});

const walletData = stackShape({ balance: int, owner: account, jetton: account, walletCode: cell });

const claimed = stackShape({ isClaimed: flag });

/** TEP-74. */
export const jettonMasters: Family = {
  kind: 'jetton_master',
  needs: ['get_jetton_data'],
  detect({ key, state, answers }) {
    const data = masterData(answers('get_jetton_data'));
    if (data === undefined) return 'malformed';
    const { totalSupply, mintable, admin, walletCode } = data;
    // Content of another form says nothing, as in v2: wallets of the jetton exist all the same.
    const content = readStoredContent(data.content) ?? {};
    const jettonMaster = {
      address: key,
      total_supply: totalSupply,
      mintable,
      admin: keyOrNull(admin),
      content,
      wallet_code_hash: walletCode.table.hash(walletCode.cell),
      ...state,
    };
    return { jettonMaster };
  },
};

/** TEP-74; `is_claimed` of TEP-177. Anyone can deploy a contract that claims to be a wallet, so its master has to confirm it. */
export const jettonWallets: Family = {
  kind: 'jetton_wallet',
  needs: ['get_wallet_data'],
  asks: ['is_claimed'],
  async detect({ account: wallet, key, state, answers }, around) {
    const data = walletData(answers('get_wallet_data'));
    if (data === undefined) return 'malformed';
    const { balance, owner, jetton } = data;
    const isConfirmed = await around.consult({
      by: jetton,
      about: rawOf(owner),
      asks: [{ method: 'get_wallet_address', stack: [addressEntry(owner)] }],
      read: (said) => isNamed(said('get_wallet_address'), wallet),
      weigh: () => 0,
    });
    if (isConfirmed !== true) return 'unconfirmed';
    const jettonWallet = {
      address: key,
      balance,
      owner: accountKey(owner),
      jetton: accountKey(jetton),
      mintless_is_claimed: claimed(answers('is_claimed'))?.isClaimed ?? null,
      ...state,
    };
    return { jettonWallet, facts: { jettonWallet: { owner: rawOf(owner), jetton: rawOf(jetton) } } };
  },
};
