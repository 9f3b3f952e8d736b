import type { FamilyTypes } from './action-type.ts';

/** Types of messages and of transactions without one. */
export const basicTypes = {
  ton_transfer: {
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: {
      source: 'address source',
      destination: 'address destination',
      value: 'amount value',
      value_extra_currencies: 'currencies extraCurrencies',
      comment: 'text ton_transfer_data.content',
      encrypted: 'flag ton_transfer_data.encrypted',
    },
  },
  call_contract: {
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: {
      opcode: 'opcode? opcode',
      source: 'address? source',
      destination: 'address? destination',
      value: 'amount? value',
      extra_currencies: 'currencies extraCurrencies',
    },
  },
  contract_deploy: {
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: {
      opcode: 'opcode? opcode',
      source: 'address? source',
      destination: 'address? destination',
      value: 'amount? value',
    },
  },
  tick_tock: {
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: { account: 'address? source' },
  },
  unknown: {
    since: 'v2',
    groups: [],
    isIndivisible: false,
    details: null,
  },
} satisfies FamilyTypes;
