import { callOf, tonTransferOf } from '../engine/basic-blocks.ts';
import type { TraceFragment } from '../engine/trace-fragment.ts';
import { bigUint, bit, plainBocOf, body, ref, uint, uint64 } from '../engine/body.ts';
import type { EventMessage } from '../engine/classifier-input.ts';
import type { Matcher } from '../engine/matcher.ts';
import { as, call, first, followedBy, withoutExcesses, type Pattern } from '../engine/pattern.ts';
import { innerCall } from '../operations/jettons.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Multisig wallets, version 2: orders are made, approved and executed.

const newOrderBody = body({
  queryId: uint64,
  seqno: bigUint(256),
  isSigner: bit,
  index: uint(8),
  expiration: bigUint(48),
  order: ref,
});

/** `signers:^(Hashmap 8 MsgAddressInt)`, without the bit of a dictionary that may be empty; then whether the creator approved the order at once. */
const initOrderBody = body({
  queryId: uint64,
  threshold: uint(8),
  signers: ref,
  expiration: bigUint(48),
  order: ref,
  approveOnInit: bit,
});

const createOrder: Matcher<Type> = {
  pattern: followedBy(call(0xf718510f), as('init', withoutExcesses(call(0x9c73fba2)))),
  build(root, found, { interfaces }) {
    const { message, source, destination } = innerCall(root);
    const init = innerCall(found.one('init')!);
    const known = interfaces.multisigOrder(init.destination);
    if (known === undefined) return undefined;
    const order = newOrderBody(message);
    const { approveOnInit } = initOrderBody(init.message);
    return {
      type: 'multisig_create_order',
      columns: {
        source,
        destination,
        destinationSecondary: init.destination,
        data: {
          multisig_create_order_data: {
            query_id: order.queryId,
            order_seqno: order.seqno,
            is_created_by_signer: order.isSigner,
            is_signed_by_creator: approveOnInit,
            creator_index: order.index,
            expiration_date: order.expiration,
            order_boc: plainBocOf(order.order),
          },
        },
      },
      failed: root.failed || found.one('init')!.failed,
      accounts: known.signers,
    };
  },
};

const approveOpcode = 0xa762230f;
const approveBody = body({ queryId: uint64, index: uint(8) });
const rejectedBody = body({ queryId: uint64, exitCode: uint(32) });

/** Approval by its own opcode or by a plain comment. */
const approval: Pattern = {
  test: (block) => callOf(block)?.opcode === approveOpcode || tonTransferOf(block)?.comment === 'approve',
};

function messageOf(block: TraceFragment): EventMessage {
  return (callOf(block) ?? tonTransferOf(block))!.message;
}

const approve: Matcher<Type> = {
  pattern: followedBy(
    approval,
    first(as('accepted', withoutExcesses(call(0x82609bf6))), as('rejected', withoutExcesses(call(0xafaf283e)))),
  ),
  build(root, found, { interfaces }) {
    const message = messageOf(root);
    const known = interfaces.multisigOrder(message.destination ?? '');
    if (known === undefined) return undefined;
    const rejected = found.one('rejected');
    return {
      type: 'multisig_approve',
      columns: {
        source: message.source,
        destination: message.destination,
        data: {
          multisig_approve_data: {
            signer_index: callOf(root) === undefined ? -1 : approveBody(message).index,
            exit_code: rejected === undefined ? 0 : rejectedBody(innerCall(rejected).message).exitCode,
          },
        },
      },
      failed: rejected !== undefined,
      accounts: known.signers,
    };
  },
};

const executeBody = body({
  queryId: uint64,
  seqno: bigUint(256),
  expiration: bigUint(48),
  approvals: uint(8),
  signersHash: (slice) => slice.bytes(32).toString('base64'),
  order: ref,
});

const execute: Matcher<Type> = {
  pattern: call(0x75097f5d),
  build(root, _found, { interfaces }) {
    const { message, source, destination } = innerCall(root);
    const known = interfaces.multisigOrder(source);
    if (known === undefined) return undefined;
    const order = executeBody(message);
    return {
      type: 'multisig_execute',
      columns: {
        source,
        destination,
        data: {
          multisig_execute_data: {
            query_id: order.queryId,
            order_seqno: order.seqno,
            expiration_date: order.expiration,
            approvals_num: order.approvals,
            signers_hash: order.signersHash,
            order_boc: plainBocOf(order.order),
          },
        },
      },
      failed: root.failed,
      accounts: known.signers,
    };
  },
};

/** Types of multisigs. */
const types = {
  multisig_create_order: {
    words: ['Multisig order', '{@source} makes order {order_seqno} ({@destination_order}) of {@destination}'],
    since: 'v2',
    groups: ['multisig'],
    isIndivisible: false,
    details: {
      query_id: 'amount multisig_create_order_data.query_id',
      order_seqno: 'amount multisig_create_order_data.order_seqno',
      is_created_by_signer: 'flag multisig_create_order_data.is_created_by_signer',
      is_signed_by_creator: 'flag multisig_create_order_data.is_signed_by_creator',
      creator_index: 'integer multisig_create_order_data.creator_index',
      expiration_date: 'integer multisig_create_order_data.expiration_date',
      order_boc: 'text multisig_create_order_data.order_boc',
      source: 'address source',
      destination: 'address destination',
      destination_order: 'address destinationSecondary',
    },
  },
  multisig_approve: {
    words: ['Multisig approval', '{@source} approves {@destination}'],
    since: 'v2',
    groups: ['multisig'],
    isIndivisible: false,
    details: {
      signer_index: 'integer multisig_approve_data.signer_index',
      exit_code: 'integer multisig_approve_data.exit_code',
      source: 'address source',
      destination: 'address destination',
    },
  },
  multisig_execute: {
    words: ['Multisig execution', '{@destination} executes order {order_seqno} ({@source})'],
    since: 'v2',
    groups: ['multisig'],
    isIndivisible: false,
    details: {
      query_id: 'amount multisig_execute_data.query_id',
      order_seqno: 'amount multisig_execute_data.order_seqno',
      expiration_date: 'integer multisig_execute_data.expiration_date',
      approvals_num: 'integer multisig_execute_data.approvals_num',
      signers_hash: 'text multisig_execute_data.signers_hash',
      order_boc: 'text multisig_execute_data.order_boc',
      source: 'address source',
      destination: 'address destination',
    },
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of multisigs. */
export const multisig = { types, matchers: { createOrder, approve, execute } } satisfies Family;
