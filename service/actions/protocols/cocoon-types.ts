import type { FamilyTypes } from '../engine/action-type.ts';

/** Types of Cocoon. */
export const cocoonTypes = {
  cocoon_worker_payout: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      payout_type: 'text cocoon_worker_payout_data.payout_type',
      query_id: 'amount cocoon_worker_payout_data.query_id',
      new_tokens: 'amount cocoon_worker_payout_data.new_tokens',
      worker_state: 'integer cocoon_worker_payout_data.worker_state',
      worker_tokens: 'amount cocoon_worker_payout_data.worker_tokens',
      source: 'address source',
      destination: 'address destination',
      amount: 'amount amount',
    },
  },
  cocoon_proxy_payout: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_proxy_payout_data.query_id',
      source: 'address source',
      destination: 'address destination',
    },
  },
  cocoon_proxy_charge: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_proxy_charge_data.query_id',
      new_tokens_used: 'amount cocoon_proxy_charge_data.new_tokens_used',
      expected_address: 'text cocoon_proxy_charge_data.expected_address',
      source: 'address source',
      destination: 'address destination',
    },
  },
  cocoon_client_top_up: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_client_top_up_data.query_id',
      source: 'address source',
      destination: 'address destination',
      amount: 'amount amount',
    },
  },
  cocoon_register_proxy: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: { query_id: 'amount cocoon_register_proxy_data.query_id', destination: 'address destination' },
  },
  cocoon_unregister_proxy: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_unregister_proxy_data.query_id',
      seqno: 'integer cocoon_unregister_proxy_data.seqno',
      destination: 'address destination',
    },
  },
  cocoon_client_register: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_client_register_data.query_id',
      nonce: 'amount cocoon_client_register_data.nonce',
      source: 'address source',
      destination: 'address destination',
    },
  },
  cocoon_client_change_secret_hash: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_client_change_secret_hash_data.query_id',
      new_secret_hash: 'text cocoon_client_change_secret_hash_data.new_secret_hash',
      source: 'address source',
      destination: 'address destination',
    },
  },
  cocoon_client_request_refund: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_client_request_refund_data.query_id',
      via_wallet: 'flag cocoon_client_request_refund_data.via_wallet',
      source: 'address source',
      destination: 'address destination',
    },
  },
  cocoon_grant_refund: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_grant_refund_data.query_id',
      new_tokens_used: 'amount cocoon_grant_refund_data.new_tokens_used',
      expected_address: 'text cocoon_grant_refund_data.expected_address',
      source: 'address source',
      destination: 'address destination',
      amount: 'amount amount',
    },
  },
  cocoon_client_increase_stake: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_client_increase_stake_data.query_id',
      new_stake: 'amount cocoon_client_increase_stake_data.new_stake',
      source: 'address source',
      destination: 'address destination',
      amount: 'amount amount',
    },
  },
  cocoon_client_withdraw: {
    since: 'v4',
    groups: ['cocoon'],
    isIndivisible: false,
    details: {
      query_id: 'amount cocoon_client_withdraw_data.query_id',
      withdraw_amount: 'amount cocoon_client_withdraw_data.withdraw_amount',
      source: 'address source',
      destination: 'address destination',
      amount: 'amount amount',
    },
  },
} satisfies FamilyTypes;
