import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import { isAborted, type TraceFragment } from '../engine/trace-fragment.ts';
import {
  body,
  coins,
  maybeAddress,
  maybeRef,
  peek,
  ref,
  tryRead,
  uint,
  uint256,
  uint32,
  uint64,
} from '../engine/body.ts';
import type { ActionColumns, ActionData } from '../engine/columns.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, call, followedBy, followedByAll, maybe, type Found, type Pattern } from '../engine/pattern.ts';
import { innerCall } from '../operations/jettons.ts';
import { cocoonTypes } from './cocoon-types.ts';
import type { Family } from '../engine/family.ts';

// Cocoon: computing power that workers sell through proxies to clients.

const excessesOpcode = 0x2565934c;
const payoutOpcode = 0xc59a7cd3;
const lastPayoutOpcode = 0xf5f26a36;
const refundGranted = 0xc68ebc7b;
const viaWalletOpcode = 0x9c69f376;

const excesses = call(excessesOpcode);
const payout = as('payout', call(payoutOpcode));
const workerRequest = as('request', call(0x4d725d2c));
const clientRequest = as('request', call(0x65448ff4));

const workerRequestBody = body({ queryId: uint64, owner: maybeAddress, state: uint(2), tokens: uint64 });
const clientRequestBody = body({ queryId: uint64, owner: maybeAddress, state: ref, payload: maybeRef });

/**
 * Body as indexers read it, from the message itself. The numbers of a signed order stand at the position of a sender's address.
 * The address is therefore the bits that follow them.
 */
const orderBody = body({ queryId: uint64, newTokens: uint64, expected: anyBits });
const numbersBody = body({ queryId: uint64, newTokens: uint64 });

/** Reads bits as an address: an external address by length and number, every other by workchain and id. The kind is ignored. */
function anyBits(slice: ContractSlice): string | null {
  const kind = slice.uint(2);
  if (kind === 0) return null;
  if (kind === 1) {
    const bits = slice.uint(9);
    return `${bits};${slice.uintBig(bits).toString(16)}`;
  }
  slice.skip(1);
  return formatRawAddress({ workchain: slice.int(8), id: slice.hash() }, 'upper');
}

type Said = { readonly columns: ActionColumns; readonly failed?: boolean };

/** A matcher whose values come from the bodies of its root and of the blocks that it found. */
function operation(
  type: Type,
  pattern: Pattern,
  say: (root: TraceFragment, found: Found) => Said & { readonly values: ActionData },
): Matcher<Type> {
  return {
    pattern,
    build(root, found) {
      const { columns, values, failed = isAborted(root) } = say(root, found);
      return { type, columns: { ...columns, data: { [`${type}_data`]: values } }, failed };
    },
  };
}

/** The owner may act through any sender. The excess goes to the owner, whom the order names. */
function ends(owner: string | null, root: TraceFragment): Pick<ActionColumns, 'source' | 'destination'> {
  return { source: owner, destination: innerCall(root).destination };
}

const isUnpaid = (found: Found): boolean => isAborted(found.one('payout')!);
const destinationOf = (found: Found, label: string): string | null => {
  const block = found.one(label);
  return block === undefined ? null : innerCall(block).destination;
};
const paidOf = (found: Found): bigint => {
  const block = found.one('payout');
  return block === undefined ? 0n : (innerCall(block).message.value ?? 0n);
};

const workerPayout = operation(
  'cocoon_worker_payout',
  followedBy(call(0xa040ad28, lastPayoutOpcode), followedByAll(workerRequest, payout, maybe(excesses))),
  (root, found) => {
    const { message, opcode, source, destination } = innerCall(root);
    const { queryId, newTokens } = numbersBody(message);
    const request = innerCall(found.one('request')!);
    const { owner: workerOwner, state, tokens } = workerRequestBody(request.message);
    return {
      columns: {
        source,
        sourceSecondary: destination,
        destination: workerOwner,
        amount: paidOf(found),
      },
      values: {
        payout_type: opcode === lastPayoutOpcode ? 'last' : 'regular',
        query_id: queryId,
        new_tokens: newTokens,
        worker_state: state,
        worker_tokens: tokens,
      },
      failed: isUnpaid(found),
    };
  },
);

const queryBody = body({ queryId: uint64 });
const ownerBody = body({ queryId: uint64, sendExcessesTo: maybeAddress });

const proxyPayout = operation(
  'cocoon_proxy_payout',
  followedByAll(call(0x7610e6eb), payout, excesses),
  (root, found) => {
    const { queryId, sendExcessesTo } = ownerBody(innerCall(root).message);
    return {
      columns: {
        source: innerCall(root).destination,
        destination: destinationOf(found, 'payout'),
        destinationSecondary: sendExcessesTo,
      },
      values: { query_id: queryId },
      failed: isUnpaid(found),
    };
  },
);

const proxyCharge = operation(
  'cocoon_proxy_charge',
  followedByAll(call(0xbb63ff93), excesses, clientRequest),
  (root, found) => {
    const { queryId, newTokens, expected } = orderBody(innerCall(root).message);
    return {
      columns: { source: innerCall(root).destination, destination: destinationOf(found, 'request'), amount: 0n },
      values: { query_id: queryId, new_tokens_used: newTokens, expected_address: expected },
    };
  },
);

const topUpBody = body({ queryId: uint64, amount: coins, sendExcessesTo: maybeAddress });

const clientTopUp = operation(
  'cocoon_client_top_up',
  followedBy(call(0xf172e6c2), followedByAll(clientRequest, excesses)),
  (root, found) => {
    const { queryId, amount, sendExcessesTo } = topUpBody(innerCall(root).message);
    return {
      columns: { ...ends(sendExcessesTo, root), destinationSecondary: destinationOf(found, 'request'), amount },
      values: { query_id: queryId },
    };
  },
);

const registerProxy = operation('cocoon_register_proxy', followedBy(call(0x927c7cb5), excesses), (root) => ({
  columns: { destination: innerCall(root).destination },
  values: { query_id: queryBody(innerCall(root).message).queryId },
}));

const unregisterBody = body({ queryId: uint64, seqno: uint32 });

const unregisterProxy = operation('cocoon_unregister_proxy', followedBy(call(0x6d49eaf2), excesses), (root) => {
  const { queryId, seqno } = unregisterBody(innerCall(root).message);
  return { columns: { destination: innerCall(root).destination }, values: { query_id: queryId, seqno } };
});

const registerBody = body({ queryId: uint64, nonce: uint64, sendExcessesTo: maybeAddress });

const clientRegister = operation(
  'cocoon_client_register',
  followedByAll(call(0xc45f9f3b), excesses, clientRequest),
  (root) => {
    const { queryId, nonce, sendExcessesTo } = registerBody(innerCall(root).message);
    return {
      columns: ends(sendExcessesTo, root),
      values: { query_id: queryId, nonce },
    };
  },
);

const changeSecretBody = body({ queryId: uint64, hash: uint256, sendExcessesTo: maybeAddress });

const clientChangeSecretHash = operation(
  'cocoon_client_change_secret_hash',
  followedByAll(call(0xa9357034), excesses, clientRequest),
  (root) => {
    const { queryId, hash, sendExcessesTo } = changeSecretBody(innerCall(root).message);
    return { columns: ends(sendExcessesTo, root), values: { query_id: queryId, new_secret_hash: hash.toString(16) } };
  },
);

const clientRequestRefund = operation(
  'cocoon_client_request_refund',
  after(
    maybe(as('wallet', call(viaWalletOpcode))),
    followedByAll(call(0xfafa6cc1, viaWalletOpcode), excesses, clientRequest),
  ),
  (root, found) => {
    const { queryId, sendExcessesTo } = ownerBody(innerCall(root).message);
    return {
      columns: ends(sendExcessesTo, root),
      values: { query_id: queryId, via_wallet: found.one('wallet') !== undefined },
    };
  },
);

const grantRefund = operation(
  'cocoon_grant_refund',
  followedBy(call(0xefd711e1), followedByAll(clientRequest, payout, excesses)),
  (root, found) => {
    const { queryId, newTokens, expected } = orderBody(innerCall(root).message);
    return {
      columns: {
        source: innerCall(root).destination,
        sourceSecondary: destinationOf(found, 'request'),
        destination: destinationOf(found, 'payout'),
        amount: paidOf(found),
      },
      values: { query_id: queryId, new_tokens_used: newTokens, expected_address: expected },
      failed: isUnpaid(found),
    };
  },
);

const increaseStakeBody = body({ queryId: uint64, stake: coins, sendExcessesTo: maybeAddress });

const clientIncreaseStake = operation(
  'cocoon_client_increase_stake',
  followedByAll(call(0x6a1f6a60), excesses, clientRequest),
  (root) => {
    const { queryId, stake, sendExcessesTo } = increaseStakeBody(innerCall(root).message);
    return {
      columns: { ...ends(sendExcessesTo, root), amount: stake },
      values: { query_id: queryId, new_stake: stake },
    };
  },
);

const clientWithdraw = operation(
  'cocoon_client_withdraw',
  followedBy(call(0xda068e78), followedByAll(clientRequest, maybe(excesses), payout)),
  (root, found) => {
    const request = innerCall(found.one('request')!);
    const payload = tryRead(() => clientRequestBody(request.message).payload);
    const granted = payload && peek(payload, (slice) => (slice.uint(32) === refundGranted ? slice.coins() : 0n));
    const { queryId, sendExcessesTo } = ownerBody(innerCall(root).message);
    return {
      columns: { ...ends(sendExcessesTo, root), amount: granted ?? 0n },
      values: { query_id: queryId, withdraw_amount: granted ?? 0n },
    };
  },
);

type Type = keyof typeof cocoonTypes;

/** Actions of Cocoon. */
export const cocoon = {
  types: cocoonTypes,
  matchers: {
    workerPayout,
    proxyPayout,
    proxyCharge,
    clientTopUp,
    registerProxy,
    unregisterProxy,
    clientRegister,
    clientChangeSecretHash,
    clientRequestRefund,
    grantRefund,
    clientIncreaseStake,
    clientWithdraw,
  },
} satisfies Family;
