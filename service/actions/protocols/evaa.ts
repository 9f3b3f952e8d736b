import { BOUNCE_OPCODES } from '#service/decode/tlb/bounced-body.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { callOf, tonTransferOf } from '../engine/basic-blocks.ts';
import type { TraceFragment } from '../engine/trace-fragment.ts';
import {
  bigUint,
  body,
  fields,
  inRef,
  maybeAddress,
  openBody,
  peek,
  ref,
  tryRead,
  uint,
  uint32,
  uint64,
} from '../engine/body.ts';
import type { EventMessage } from '../engine/classifier-input.ts';
import type { Matcher } from '../engine/matcher.ts';
import {
  as,
  built,
  call,
  first,
  followedBy,
  followedByAll,
  maybe,
  only,
  type Found,
  type Pattern,
} from '../engine/pattern.ts';
import {
  innerCall,
  jettonTransferOf,
  jettonTransferType,
  payloadOpcode,
  type JettonTransfer,
} from '../operations/jettons.ts';
import { evaaTypes } from './evaa-types.ts';
import type { Family } from '../engine/family.ts';

// EVAA: lending. Its master answers through a contract of each user.

const assetId = bigUint(256);

/** Id of TON in EVAA: a hash of its name. */
const tonId = 0x1a4219fe5e60d63af2a3cc7dce6fec69b45c6b5718497a6148e7c232ac87bd8an;

/** Messages to a user's contract begin with a header: an amount, perhaps a reference, two bits. Undefined when no opcode follows it. */
function openUserBody(message: EventMessage): ContractSlice | undefined {
  return tryRead(() => {
    const slice = openBody(message);
    slice.coins();
    slice.maybeRef();
    slice.skip(2);
    return slice;
  });
}

/** A call with this opcode behind a user's header. */
function userCall(opcode: number): Pattern {
  return {
    test(block) {
      const message = callOf(block)?.message;
      const slice = message && openUserBody(message);
      return slice !== undefined && peek(slice, uint32) === opcode;
    },
  };
}

/** Fields of a user's message after header and opcode. Throws DecodeError. */
function readUser<T>(block: TraceFragment, read: (slice: ContractSlice) => T): T {
  const slice = openUserBody(callOf(block)!.message)!;
  slice.skip(32);
  return read(slice);
}

const textId = (id: bigint): string => `0x${id.toString(16)}`;

const jettonTransfer = built(jettonTransferType);
/** Excess TON. */
const leftOver = maybe(
  built('ton_transfer', (block) =>
    ['EVAA supply.', 'EVAA withdraw.', 'EVAA liquidation.'].includes(tonTransferOf(block)?.comment ?? ''),
  ),
);

/** A call of this kind, or a transfer of jettons that carries it. */
function carried(opcode: number): Pattern {
  return {
    test: (block) =>
      callOf(block)?.opcode === opcode || payloadOpcode(jettonTransferOf(block)?.forwardPayload ?? null) === opcode,
  };
}

const supplyBody = body({ queryId: uint64, includeCode: uint(2), amount: uint64, recipient: maybeAddress });
const supplyPayload = fields({ opcode: uint32, includeCode: uint(2), recipient: maybeAddress });
const supplyUser = fields({ queryId: uint64, assetId });
const suppliedBody = body({ queryId: uint64, owner: maybeAddress, assetId, amount: uint64 });

function returnedTo(returned: TraceFragment | undefined, supplied: JettonTransfer | undefined): string | null {
  const back = jettonTransferOf(returned);
  return back !== undefined && back.senderWallet === supplied?.receiverWallet ? back.receiverWallet : null;
}

const supply: Matcher<Type> = {
  pattern: followedBy(
    carried(0x01),
    as(
      'user',
      followedBy(
        userCall(0x11),
        first(as('success', followedBy(call(0x11a), leftOver)), call(0x11f), as('returned', jettonTransfer)),
      ),
    ),
  ),
  build(root, found) {
    const user = found.one('user')!;
    const id = readUser(user, supplyUser).assetId;
    const transfer = jettonTransferOf(root);
    const said =
      transfer === undefined
        ? supplyBody(innerCall(root).message)
        : { ...supplyPayload(transfer.forwardPayload!.clone()), amount: transfer.amount };
    const { recipient } = said;
    const supplied = found.one('success');
    const { source, destination: contract } = innerCall(user);
    // Another account's wallet only when jettons went back to it.
    const recipientWallet =
      recipient === transfer?.sender ? transfer.senderWallet : returnedTo(found.one('returned'), transfer);
    return {
      type: 'evaa_supply',
      columns: {
        source: transfer?.sender ?? innerCall(root).source,
        sourceSecondary: transfer?.senderWallet ?? null,
        destination: recipient,
        destinationSecondary: contract,
        asset: transfer?.jetton ?? null,
        amount: supplied === undefined ? said.amount : suppliedBody(innerCall(supplied).message).amount,
        data: {
          evaa_supply_data: {
            sender_jetton_wallet: null,
            recipient_jetton_wallet: recipientWallet,
            master_jetton_wallet: transfer?.receiverWallet ?? null,
            master: source,
            asset_id: textId(id),
            is_ton: transfer === undefined,
          },
        },
      },
      failed: supplied === undefined,
    };
  },
};

const withdrawBody = body({ queryId: uint64, assetId, amount: uint64, recipient: maybeAddress });
const collateralizedBody = body({ queryId: uint64, owner: maybeAddress, assetId, amount: uint64 });

/** Reason of a failed withdrawal, by the opcode of the returned message. */
const withdrawFailures: Readonly<Record<number, string>> = {
  0x211fe8: 'withdraw_no_funds_excess',
  0x21e6: 'withdraw_locked_excess',
  0x21e7: 'withdraw_not_collateralized_excess',
  0x21e8: 'withdraw_missing_prices_excess',
  0x21ec: 'withdraw_execution_crashed',
};

const withdraw: Matcher<Type> = {
  pattern: followedBy(
    call(0x02),
    as(
      'user',
      followedBy(
        userCall(0x21),
        only(
          as(
            'collateralized',
            followedByAll(
              call(0x211),
              only(as('jettons', jettonTransfer), as('ton', followedBy(call(0x211a), leftOver))),
              followedBy(userCall(0x211a), built('ton_transfer')),
            ),
          ),
          followedBy(call(0x211), followedBy(userCall(0x211f), as('refused', call(0x211fe8)))),
          as('refused', call(0x21e6, 0x21e7, 0x21e8, 0x21ec)),
        ),
      ),
    ),
  ),
  build(root, found) {
    const { message, source, destination: master } = innerCall(root);
    const said = withdrawBody(message);
    const user = found.one('user')!;
    const paid = found.one('collateralized');
    const transfer = jettonTransferOf(found.one('jettons'));
    const refused = found.one('refused');
    if (paid !== undefined && found.one(said.assetId === tonId ? 'ton' : 'jettons') === undefined) return undefined;
    return {
      type: 'evaa_withdraw',
      columns: {
        source,
        destination: said.recipient,
        destinationSecondary: innerCall(user).destination,
        asset: transfer?.jetton ?? null,
        amount: paid === undefined ? said.amount : collateralizedBody(innerCall(paid).message).amount,
        data: {
          evaa_withdraw_data: {
            sender_jetton_wallet: null,
            recipient_jetton_wallet: transfer?.receiverWallet ?? null,
            master_jetton_wallet: transfer?.senderWallet ?? null,
            master,
            fail_reason: refused === undefined ? null : (withdrawFailures[innerCall(refused).opcode ?? -1] ?? null),
            asset_id: textId(said.assetId),
          },
        },
      },
      failed: paid === undefined,
    };
  },
};

const liquidateBody = body({
  queryId: uint64,
  borrower: maybeAddress,
  liquidator: maybeAddress,
  collateralId: assetId,
  collateralMin: uint64,
  includeCode: uint(2),
  amount: uint64,
});
const liquidatePayload = fields({
  opcode: uint32,
  borrower: maybeAddress,
  liquidator: maybeAddress,
  collateralId: assetId,
});

const satisfiedBody = body({
  queryId: uint64,
  owner: maybeAddress,
  liquidator: maybeAddress,
  debtId: assetId,
  details: inRef(
    fields({
      loanDelta: uint64,
      liquidatable: uint64,
      gift: uint64,
      loan: uint64,
      collateralId: assetId,
      collateralDelta: uint64,
      reward: uint64,
    }),
  ),
});

const unsatisfiedBody = body({
  queryId: uint64,
  owner: maybeAddress,
  liquidator: maybeAddress,
  debtId: assetId,
  details: inRef(
    fields({
      transferred: uint64,
      collateralId: assetId,
      collateralMin: uint64,
      forwardAmount: uint64,
      response: ref,
      error: (slice) => peek(slice, uint32),
    }),
  ),
});

/** Why a user's contract refuses, by code. */
const liquidationFailures: Readonly<Record<number, string>> = {
  0xe001: 'master_liquidating_too_much',
  0xe002: 'user_withdraw_in_progress',
  0xe003: 'not_liquidatable',
  0xe004: 'execution_crashed',
  0xe005: 'min_collateral_not_satisfied',
  0xe006: 'user_not_enough_collateral',
  0xe007: 'user_liquidating_too_much',
  0xe008: 'master_not_enough_liquidity',
  0xe009: 'liquidation_prices_missing',
};

const report = as('report', only(call(0x311d, 0x311f), jettonTransfer));

const liquidate: Matcher<Type> = {
  pattern: followedBy(
    carried(0x03),
    only(
      as(
        'user',
        followedBy(
          userCall(0x31),
          only(
            as('satisfied', followedByAll(call(0x311), followedBy(userCall(0x311a), leftOver), report)),
            as('failed', followedByAll(call(0x311), call(0x311f), report)),
            as('unsatisfied', followedBy(call(0x31f), report)),
          ),
        ),
      ),
      as('rejected', only(call(...BOUNCE_OPCODES), jettonTransfer)),
    ),
  ),
  build(root, found) {
    const user = found.one('user');
    const satisfied = found.one('satisfied');
    const { borrower, collateralId, reward, debt } =
      satisfied === undefined ? orderedLiquidation(root) : doneLiquidation(satisfied);
    return {
      type: 'evaa_liquidate',
      columns: {
        source: jettonTransferOf(root)?.sender ?? innerCall(root).source,
        destination: borrower,
        destinationSecondary: user === undefined ? null : innerCall(user).destination,
        asset: collateralId.toString(),
        amount: reward,
        data: {
          evaa_liquidate_data: {
            fail_reason: satisfied === undefined ? failReason(found) : null,
            debt_amount: debt,
            asset_id: textId(collateralId),
          },
        },
      },
      failed: satisfied === undefined,
    };
  },
};

type Liquidation = {
  readonly borrower: string | null;
  readonly collateralId: bigint;
  readonly reward: bigint;
  readonly debt: bigint;
};

/** Requested values of a failed liquidation. Throws DecodeError. */
function orderedLiquidation(root: TraceFragment): Liquidation {
  const transfer = jettonTransferOf(root);
  if (transfer === undefined) {
    const { borrower, collateralId, amount } = liquidateBody(innerCall(root).message);
    return { borrower, collateralId, reward: 0n, debt: amount };
  }
  const { borrower, collateralId } = liquidatePayload(transfer.forwardPayload!.clone());
  return { borrower, collateralId, reward: 0n, debt: transfer.amount };
}

/** Values of a completed liquidation from the user's contract, regardless of the form of its order. Throws DecodeError. */
function doneLiquidation(satisfied: TraceFragment): Liquidation {
  const { owner, details } = satisfiedBody(innerCall(satisfied).message);
  const { collateralId, reward, liquidatable } = details;
  return { borrower: owner, collateralId, reward, debt: liquidatable };
}

function failReason(found: Found): string {
  const unsatisfied = found.one('unsatisfied');
  if (unsatisfied === undefined) return found.one('failed') ? 'master_not_enough_liquidity' : 'immediate_rejection';
  const { error } = unsatisfiedBody(innerCall(unsatisfied).message).details;
  return error === undefined ? 'parse_error' : (liquidationFailures[error] ?? 'unknown');
}

type Type = keyof typeof evaaTypes;

/** Actions of EVAA. */
export const evaa = { types: evaaTypes, matchers: { supply, withdraw, liquidate } } satisfies Family;
