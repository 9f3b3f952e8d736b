import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { address, bit, body, coins, fields, maybeAddress, plainBocOf, ref, uint, uint64 } from '../engine/body.ts';
import type { Matcher } from '../engine/matcher.ts';
import { as, call, followedBy, withoutExcesses } from '../engine/pattern.ts';
import { innerCall } from '../operations/jettons.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Vesting wallets: messages sent from them, and whom they may send to.

const sendBody = body({ queryId: uint64, mode: uint(8), message: ref });

/** Receiver and nanotons of a message between accounts, as the contract sends it. */
const innerFields = fields({
  isOutside: bit,
  flags: uint(3),
  source: maybeAddress,
  destination: maybeAddress,
  value: coins,
});

const sendMessage: Matcher<Type> = {
  pattern: followedBy(call(0xa7733acd), as('response', withoutExcesses(call(0xf7733acd)))),
  build(root) {
    const { message, source, destination } = innerCall(root);
    const { queryId, message: inner } = sendBody(message);
    const sent = innerFields(inner.clone());
    if (sent.isOutside) return undefined;
    return {
      type: 'vesting_send_message',
      columns: {
        source,
        destination,
        destinationSecondary: sent.destination,
        amount: sent.value,
        data: { vesting_send_message_data: { query_id: queryId, message_boc: plainBocOf(inner) } },
      },
    };
  },
};

/** A message holds at most 8,192 cells; a chain of one address in each is no longer. */
const ADDRESSES_MAX = 8192;

/** Reads an address, and the others in a chain of references. */
function addressChain(slice: ContractSlice): readonly string[] {
  const list: string[] = [];
  for (let part = slice; list.length < ADDRESSES_MAX; part = part.refSlice()) {
    list.push(address(part));
    if (part.remainingRefs === 0) return list;
  }
  return list;
}

const whitelistBody = body({ queryId: uint64, added: addressChain });

const addWhitelist: Matcher<Type> = {
  pattern: followedBy(call(0x7258a69b), as('response', withoutExcesses(call(0xf258a69b)))),
  build(root) {
    const { message, source, destination } = innerCall(root);
    const { queryId, added } = whitelistBody(message);
    return {
      type: 'vesting_add_whitelist',
      columns: {
        source,
        destination,
        data: { vesting_add_whitelist_data: { query_id: queryId, accounts_added: added } },
      },
      failed: root.failed,
    };
  },
};

/** Types of vesting contracts. */
const types = {
  vesting_send_message: {
    words: ['Vesting message', '{@source} lets {@vesting} send a message to {@destination}[ with {$amount}]'],
    since: 'v2',
    groups: ['vesting'],
    isIndivisible: false,
    details: {
      query_id: 'amount vesting_send_message_data.query_id',
      message_boc: 'text vesting_send_message_data.message_boc',
      source: 'address source',
      vesting: 'address destination',
      destination: 'address destinationSecondary',
      amount: 'amount amount',
    },
  },
  vesting_add_whitelist: {
    words: ['Vesting whitelist', '{@source} adds accounts to the whitelist of {@vesting}'],
    since: 'v2',
    groups: ['vesting'],
    isIndivisible: false,
    details: {
      query_id: 'amount vesting_add_whitelist_data.query_id',
      accounts_added: 'addresses vesting_add_whitelist_data.accounts_added',
      source: 'address source',
      vesting: 'address destination',
    },
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of vesting contracts. */
export const vesting = { types, matchers: { sendMessage, addWhitelist } } satisfies Family;
