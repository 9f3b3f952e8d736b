import type { FamilyTypes } from './action-type.ts';

/** Types of messages and of transactions without one. */
export const basicTypes = {
  ton_transfer: {
    words: ['TON transfer', '{@source} sends {$value} to {@destination}[: {"comment}]'],
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
    words: ['Contract call', '{@source} calls {@destination}[ with opcode {opcode}][ and {$value}]'],
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
    words: ['Contract deployment', '{@destination} is deployed[ by {@source}][ with {$value}]'],
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
    words: ['Tick-tock', 'The block runs {@account}'],
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: { account: 'address? source' },
  },
  unknown: {
    words: ['Transactions without a known meaning', 'The classifier knows no meaning'],
    since: 'v2',
    groups: [],
    isIndivisible: false,
    details: null,
  },
} satisfies FamilyTypes;
