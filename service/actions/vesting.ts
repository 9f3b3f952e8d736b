import type { CellSlice } from '../decode/cell-slice.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { readMessageAddress } from '../decode/tlb/message-address.ts';
import { address, bocOf, body, peek, ref, uint, uint64 } from './body.ts';
import type { Matcher } from './matcher.ts';
import { as, call, followedBy } from './pattern.ts';
import { innerCall } from './jettons.ts';

// Vesting wallets: messages sent from them, and whom they may send to.

const sendBody = body({ queryId: uint64, mode: uint(8), message: ref });

/** Receiver and nanotons of `int_msg_info$0`, as the contract sends it. */
function readInner(slice: CellSlice): { readonly destination: string | null; readonly value: bigint | null } {
  if (slice.bit()) return { destination: null, value: null };
  slice.skip(3);
  readMessageAddress(slice);
  return { destination: addressText(readMessageAddress(slice)), value: slice.coins() };
}

const sendMessage: Matcher = {
  pattern: followedBy(call(0xa7733acd), as('response', call(0xf7733acd))),
  build(root) {
    const { message, source, destination } = innerCall(root);
    const { queryId, message: inner } = sendBody(message);
    const sent = peek(inner, readInner);
    return {
      type: 'vesting_send_message',
      columns: {
        source,
        destination,
        destinationSecondary: sent?.destination ?? null,
        amount: sent?.value ?? null,
        data: { vesting_send_message_data: { query_id: queryId, message_boc: bocOf(inner) } },
      },
      failed: root.failed,
    };
  },
};

/** A message holds at most 8,192 cells; a chain of one address in each is no longer. */
const ADDRESSES_MAX = 8192;

/** One address, and the others in a chain of references. */
function addressChain(slice: CellSlice): readonly string[] {
  const list: string[] = [];
  for (let part = slice; list.length < ADDRESSES_MAX; part = part.refSlice()) {
    list.push(address(part));
    if (part.remainingRefs === 0) return list;
  }
  return list;
}

const whitelistBody = body({ queryId: uint64, added: addressChain });

const addWhitelist: Matcher = {
  pattern: followedBy(call(0x7258a69b), as('response', call(0xf258a69b))),
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

/** By their place in the order of all matchers (indexing sheet 9.4). */
export const vestingMatchers: Readonly<Record<number, Matcher>> = { 10: sendMessage, 11: addWhitelist };
