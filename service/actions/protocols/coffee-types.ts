import type { FamilyTypes } from '../engine/action-type.ts';

/** Types of Coffee. */
export const coffeeTypes = {
  coffee_create_vault: {
    since: 'v2',
    groups: ['coffee'],
    isIndivisible: false,
    details: { source: 'address source', vault: 'address destination', asset: 'address asset', value: 'amount value' },
  },
  coffee_create_pool_creator: {
    since: 'v2',
    groups: ['coffee'],
    isIndivisible: false,
    details: {
      source: 'address source',
      source_jetton_wallet: 'address sourceSecondary',
      deposit_recipient: 'address destination',
      pool_creator_contract: 'address destinationSecondary',
      provided_asset: 'address asset',
      asset_1: 'address asset',
      asset_2: 'address asset2',
      amount: 'amount amount',
    },
  },
  coffee_create_pool: {
    since: 'v2',
    groups: ['coffee'],
    isIndivisible: false,
    details: {
      source: 'address source',
      source_jetton_wallet: 'address sourceSecondary',
      initiator_1: 'address coffee_create_pool_data.initiator_1',
      initiator_2: 'address coffee_create_pool_data.initiator_2',
      pool: 'address destination',
      pool_creator_contract: 'address destinationSecondary',
      provided_asset: 'address coffee_create_pool_data.provided_asset',
      amount: 'amount amount',
      asset_1: 'address asset',
      asset_2: 'address asset2',
      amount_1: 'amount coffee_create_pool_data.amount_1',
      amount_2: 'amount coffee_create_pool_data.amount_2',
      lp_tokens_minted: 'amount coffee_create_pool_data.lp_tokens_minted',
    },
  },
  coffee_mev_protect_hold_funds: {
    since: 'v2',
    groups: ['coffee'],
    isIndivisible: false,
    details: {
      source: 'address source',
      source_jetton_wallet: 'address sourceSecondary',
      mev_contract: 'address destination',
      mev_contract_jetton_wallet: 'address destinationSecondary',
      asset: 'address asset',
      amount: 'amount amount',
    },
  },
  coffee_mev_protect_failed_swap: {
    since: 'v2',
    groups: [],
    isIndivisible: false,
    details: null,
  },
  coffee_deposit_liquidity: { isHelper: true, isIndivisible: true },
} satisfies FamilyTypes;
