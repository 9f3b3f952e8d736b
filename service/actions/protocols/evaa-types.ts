import type { FamilyTypes } from '../engine/action-type.ts';

/** Types of EVAA. */
export const evaaTypes = {
  evaa_supply: {
    words: ['Loan supply', '{@source} supplies {#amount/asset} to EVAA[ for {@recipient}]'],
    since: 'v2',
    groups: ['evaa'],
    isIndivisible: false,
    details: {
      sender_jetton_wallet: 'address sourceSecondary',
      recipient_jetton_wallet: 'address evaa_supply_data.recipient_jetton_wallet',
      master_jetton_wallet: 'address evaa_supply_data.master_jetton_wallet',
      master: 'address evaa_supply_data.master',
      asset_id: 'text evaa_supply_data.asset_id',
      is_ton: 'flag evaa_supply_data.is_ton',
      source: 'address source',
      source_wallet: 'address sourceSecondary',
      recipient: 'address destination',
      recipient_contract: 'address destinationSecondary',
      asset: 'address asset',
      amount: 'amount amount',
    },
  },
  evaa_withdraw: {
    words: ['Loan withdrawal', '{@source} withdraws {#amount/asset} from EVAA[ to {@recipient}][: {fail_reason}]'],
    since: 'v2',
    groups: ['evaa'],
    isIndivisible: false,
    details: {
      recipient_jetton_wallet: 'address evaa_withdraw_data.recipient_jetton_wallet',
      master_jetton_wallet: 'address evaa_withdraw_data.master_jetton_wallet',
      master: 'address evaa_withdraw_data.master',
      fail_reason: 'text evaa_withdraw_data.fail_reason',
      asset_id: 'text evaa_withdraw_data.asset_id',
      source: 'address source',
      recipient: 'address destination',
      owner_contract: 'address destinationSecondary',
      asset: 'address asset',
      amount: 'amount amount',
    },
  },
  evaa_liquidate: {
    words: [
      'Loan liquidation',
      '{@source} liquidates the loan of {@borrower}[: {amount} units of asset {asset_id}][: {fail_reason}]',
    ],
    since: 'v2',
    groups: ['evaa'],
    isIndivisible: false,
    details: {
      fail_reason: 'text evaa_liquidate_data.fail_reason',
      debt_amount: 'amount evaa_liquidate_data.debt_amount',
      source: 'address source',
      borrower: 'address destination',
      borrower_contract: 'address destinationSecondary',
      collateral: 'text @evaaCollateral',
      asset_id: 'text evaa_liquidate_data.asset_id',
      asset: 'address @evaaAsset',
      is_known_asset: 'flag! @evaaIsKnown',
      amount: 'amount amount',
    },
  },
} satisfies FamilyTypes;
