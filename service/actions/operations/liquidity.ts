import type { ActionData, DataValue } from '../engine/columns.ts';
import type { FamilyTypes } from '../engine/action-type.ts';

/** Data of a deposit into a pool; null assets are TON. */
export type Deposit = {
  readonly dex: string;
  readonly amount1?: bigint | null;
  readonly amount2?: bigint | null;
  readonly asset1?: string | null;
  readonly asset2?: string | null;
  readonly wallet1?: string | null;
  readonly wallet2?: string | null;
  readonly minted?: bigint | null;
  readonly targetAsset1?: string | null;
  readonly targetAsset2?: string | null;
  readonly targetAmount1?: bigint | null;
  readonly targetAmount2?: bigint | null;
  /** Returned amounts, by asset. */
  readonly excesses?: readonly { readonly asset: string | null; readonly amount: bigint }[] | null;
  readonly tickLower?: number | null;
  readonly tickUpper?: number | null;
  readonly nftIndex?: bigint | null;
  readonly nftAddress?: string | null;
};

export function depositData(deposit: Deposit): ActionData {
  const { excesses = null } = deposit;
  return {
    dex_deposit_liquidity_data: {
      dex: deposit.dex,
      amount1: deposit.amount1 ?? null,
      amount2: deposit.amount2 ?? null,
      asset1: deposit.asset1 ?? null,
      asset2: deposit.asset2 ?? null,
      user_jetton_wallet_1: deposit.wallet1 ?? null,
      user_jetton_wallet_2: deposit.wallet2 ?? null,
      lp_tokens_minted: deposit.minted ?? null,
      target_asset_1: deposit.targetAsset1 ?? null,
      target_asset_2: deposit.targetAsset2 ?? null,
      target_amount_1: deposit.targetAmount1 ?? null,
      target_amount_2: deposit.targetAmount2 ?? null,
      vault_excesses: excesses?.map(({ asset, amount }): DataValue => ({ asset, amount })) ?? null,
      tick_lower: decimal(deposit.tickLower),
      tick_upper: decimal(deposit.tickUpper),
      nft_index: deposit.nftIndex ?? null,
      nft_address: deposit.nftAddress ?? null,
    },
  };
}

/** Asset of the two that a withdrawal pays. */
export type WithdrawnAsset = {
  readonly amount: bigint | null;
  readonly asset: string | null;
  /** Wallets of the user, and of the exchange, and the exchange's contract that pays. */
  readonly userWallet?: string | null;
  readonly dexJettonWallet?: string | null;
  readonly dexWallet?: string | null;
};

export type Withdrawal = {
  readonly dex: string;
  readonly first: WithdrawnAsset;
  readonly second: WithdrawnAsset;
  readonly burnt?: bigint | null;
  readonly nftIndex?: bigint | null;
  readonly nftAddress?: string | null;
  readonly tickLower?: number | null;
  readonly tickUpper?: number | null;
};

export function withdrawalData({ dex, first, second, ...rest }: Withdrawal): ActionData {
  return {
    dex_withdraw_liquidity_data: {
      dex,
      amount1: first.amount,
      amount2: second.amount,
      asset1_out: first.asset,
      asset2_out: second.asset,
      user_jetton_wallet_1: first.userWallet ?? null,
      user_jetton_wallet_2: second.userWallet ?? null,
      dex_jetton_wallet_1: first.dexJettonWallet ?? null,
      dex_jetton_wallet_2: second.dexJettonWallet ?? null,
      lp_tokens_burnt: rest.burnt ?? null,
      dex_wallet_1: first.dexWallet ?? null,
      dex_wallet_2: second.dexWallet ?? null,
      burned_nft_index: rest.nftIndex ?? null,
      burned_nft_address: rest.nftAddress ?? null,
      tick_lower: decimal(rest.tickLower),
      tick_upper: decimal(rest.tickUpper),
    },
  };
}

/** Ticks are shown as text, as amounts are. */
function decimal(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : value.toString();
}

/** Types of liquidity at all exchanges. */
export const liquidityTypes = {
  dex_deposit_liquidity: {
    words: [
      'Liquidity deposit',
      '{@source} deposits[ {#amount_1/asset_1}][ and {#amount_2/asset_2}][ into {@pool}][ at {dex}]',
    ],
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: {
      dex: 'text dex_deposit_liquidity_data.dex',
      amount_1: 'amount dex_deposit_liquidity_data.amount1',
      amount_2: 'amount dex_deposit_liquidity_data.amount2',
      asset_1: 'address dex_deposit_liquidity_data.asset1',
      asset_2: 'address dex_deposit_liquidity_data.asset2',
      user_jetton_wallet_1: 'address dex_deposit_liquidity_data.user_jetton_wallet_1',
      user_jetton_wallet_2: 'address dex_deposit_liquidity_data.user_jetton_wallet_2',
      source: 'address source',
      pool: 'address destination',
      destination_liquidity: 'address destinationSecondary if dex_deposit_liquidity_data.dex=dedust, destination',
      lp_tokens_minted: 'amount dex_deposit_liquidity_data.lp_tokens_minted',
      target_asset_1: 'address dex_deposit_liquidity_data.target_asset_1',
      target_asset_2: 'address dex_deposit_liquidity_data.target_asset_2',
      target_amount_1: 'amount dex_deposit_liquidity_data.target_amount_1',
      target_amount_2: 'amount dex_deposit_liquidity_data.target_amount_2',
      vault_excesses: 'vault_excess[] dex_deposit_liquidity_data.vault_excesses',
      tick_lower: 'text dex_deposit_liquidity_data.tick_lower',
      tick_upper: 'text dex_deposit_liquidity_data.tick_upper',
      nft_index: 'amount dex_deposit_liquidity_data.nft_index',
      nft_address: 'address dex_deposit_liquidity_data.nft_address',
    },
  },
  dex_withdraw_liquidity: {
    words: [
      'Liquidity withdrawal',
      '{@source} withdraws[ {#amount_1/asset_1}][ and {#amount_2/asset_2}][ from {@pool}][ at {dex}]',
    ],
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: {
      dex: 'text dex_withdraw_liquidity_data.dex',
      amount_1: 'amount dex_withdraw_liquidity_data.amount1',
      amount_2: 'amount dex_withdraw_liquidity_data.amount2',
      asset_1: 'address dex_withdraw_liquidity_data.asset1_out',
      asset_2: 'address dex_withdraw_liquidity_data.asset2_out',
      user_jetton_wallet_1: 'address dex_withdraw_liquidity_data.user_jetton_wallet_1',
      user_jetton_wallet_2: 'address dex_withdraw_liquidity_data.user_jetton_wallet_2',
      lp_tokens_burnt: 'amount dex_withdraw_liquidity_data.lp_tokens_burnt',
      is_refund: 'flag -',
      source: 'address source',
      pool: 'address destination',
      destination_liquidity: 'address destination',
      burnt_nft_index: 'amount dex_withdraw_liquidity_data.burned_nft_index',
      burnt_nft_address: 'address dex_withdraw_liquidity_data.burned_nft_address',
      tick_lower: 'text dex_withdraw_liquidity_data.tick_lower',
      tick_upper: 'text dex_withdraw_liquidity_data.tick_upper',
    },
  },
} satisfies FamilyTypes;
