import type { TraceFragment } from '../engine/trace-fragment.ts';
import { byStart } from '../engine/trace-fragment.ts';
import {
  body,
  coins,
  fields,
  inRef,
  maybeAddress,
  maybeRef,
  ref,
  uint,
  uint64,
  type FieldReader,
} from '../engine/body.ts';
import { depositData, withdrawalData, type WithdrawnAsset } from '../operations/liquidity.ts';
import type { Matcher } from '../engine/matcher.ts';
import {
  after,
  any,
  as,
  built,
  call,
  first,
  followedBy,
  followedByAll,
  maybe,
  repeat,
  type Found,
} from '../engine/pattern.ts';
import { several, sideOfTon, sideOfTransfer, swapColumns, type SwapLeg, type SwapSide } from '../operations/swap.ts';
import {
  innerCall,
  internalTransferOpcode,
  jettonBurnOf,
  jettonBurnType,
  jettonTransferOf,
  jettonTransferType,
  payloadOpcode,
} from '../operations/jettons.ts';
import { coffeeTypes } from './coffee-types.ts';
import type { swapTypes } from '../operations/swap.ts';
import type { liquidityTypes } from '../operations/liquidity.ts';
import type { Family } from '../engine/family.ts';

// Coffee: an exchange with a vault for each asset.

export const excessesOpcode = 0xd53276db;
const swapOpcode = 0xc0ffee20;
const payoutOpcode = 0xc0ffee21;
const deployOpcode = 0xc0ffee22;
const tonPayoutOpcode = 0xc0ffee32;
const notificationOpcode = 0xc0ffee36;
const creatorType = 'coffee_create_pool_creator';

/** `native$00`, `jetton$01 chain:uint8 hash:bits256`; null for TON. */
const asset: FieldReader<string | null> = (slice) => {
  if (slice.uint(2) !== 1) return null;
  const workchain = slice.int(8);
  return `${workchain}:${slice.bytes(32).toString('hex').toUpperCase()}`;
};

const amountBody = body({ queryId: uint64, amount: coins });
const payoutBody = body({ queryId: uint64, recipient: maybeAddress, amount: coins });
const swapEventBody = body({ queryId: uint64, input: asset, amountIn: coins, amountOut: coins });

const jettonTransfer = built(jettonTransferType);
const payout = as(
  'payout',
  followedBy(call(payoutOpcode), as('out', first(jettonTransfer, call(tonPayoutOpcode), call(notificationOpcode)))),
);
const event = as('event', call(0xc0ffee30));

/** Sender and amount into the exchange: jettons by a transfer, TON by a call. */
function incomingOf(block: TraceFragment): SwapSide {
  const transfer = jettonTransferOf(block);
  if (transfer !== undefined) return sideOfTransfer(transfer);
  const { message, source, destination } = innerCall(block);
  return sideOfTon(amountBody(message).amount, source, destination);
}

/** Payout of the exchange: jettons, or TON by the order to its vault or with a notification. */
function outgoingOf(found: Found): SwapSide {
  const out = found.one('out')!;
  const transfer = jettonTransferOf(out);
  if (transfer !== undefined) return sideOfTransfer(transfer);
  const { opcode, message, source, destination } = innerCall(out);
  if (opcode === notificationOpcode) return sideOfTon(message.value, source, destination);
  const order = innerCall(found.one('payout')!);
  const { recipient, amount } = payoutBody(order.message);
  return sideOfTon(amount, order.source, recipient);
}

const swap: Matcher<Type> = {
  pattern: after(
    as('in', first(jettonTransfer, call(0xc0ffee00))),
    followedByAll(
      call(swapOpcode),
      event,
      first(payout, repeat(as('step', followedBy(call(swapOpcode), event)), payout)),
    ),
  ),
  build(_root, found) {
    const incoming = incomingOf(found.one('in')!);
    const outgoing = outgoingOf(found);
    const events = found
      .all('event')
      .toSorted(byStart)
      .map((block) => swapEventBody(innerCall(block).message));
    const legs = events.map(({ input, amountIn, amountOut }, index): SwapLeg => ({
      assetIn: input,
      amountIn,
      assetOut: index + 1 < events.length ? events[index + 1]!.input : outgoing.asset,
      amountOut,
    }));
    return {
      type: 'jetton_swap',
      columns: swapColumns({ dex: 'coffee', sender: incoming.source, incoming, outgoing, legs: several(legs) }),
      failed: events.length < found.all('step').length + 1,
    };
  },
};

const poolAssets = fields({ asset1: asset, asset2: asset });
const depositBody = body({
  queryId: uint64,
  amount: coins,
  params: ref,
  assets: inRef(poolAssets),
  sender: maybeAddress,
});
const amountsBody = body({ queryId: uint64, amount1: coins, amount2: coins, lpAmount: coins });
const lp = as('lp', followedBy(call(internalTransferOpcode), maybe(call(excessesOpcode))));

const deposit: Matcher<Type> = {
  pattern: after(
    as('in', first(call(0xc0ffee04), jettonTransfer)),
    followedBy(
      call(0xc0ffee27),
      as(
        'deploy',
        followedBy(
          call(deployOpcode),
          maybe(followedByAll(call(0xc0ffee29), lp, as('event', call(0xc0ffee33)), maybe(payout))),
        ),
      ),
    ),
  ),
  build(root, found) {
    const incoming = incomingOf(found.one('in')!);
    const { amount, assets, sender } = depositBody(innerCall(root).message);
    const { sourceWallet } = incoming;
    const isFirst = incoming.asset === assets.asset1;
    if (!isFirst && incoming.asset !== assets.asset2) return undefined;
    const done = found.one('event');
    const inner = done && innerCall(done);
    const sent = isFirst
      ? { amount1: amount, asset1: incoming.asset, wallet1: sourceWallet }
      : { amount2: amount, asset2: incoming.asset, wallet2: sourceWallet };
    return {
      type: 'coffee_deposit_liquidity',
      actionType: 'dex_deposit_liquidity',
      columns: {
        source: sender,
        destination: inner?.source ?? null,
        destinationSecondary: innerCall(found.one('deploy')!).destination,
        data: depositData({
          dex: 'coffee',
          ...sent,
          minted: inner === undefined ? null : amountsBody(inner.message).lpAmount,
          targetAsset1: incoming.asset,
          targetAsset2: isFirst ? assets.asset2 : assets.asset1,
          excesses: excessesOf(found),
        }),
      },
      failed: root.failed,
    };
  },
};

function excessesOf(found: Found): readonly { readonly asset: string | null; readonly amount: bigint }[] {
  const out = found.one('out');
  if (out === undefined) return [];
  const transfer = jettonTransferOf(out);
  return transfer === undefined
    ? [{ asset: null, amount: innerCall(out).message.value ?? 0n }]
    : [{ asset: transfer.jetton, amount: transfer.amount }];
}

const paid = (label: string) =>
  as(
    `order-${label}`,
    followedBy(call(payoutOpcode), as(label, first(jettonTransfer, call(tonPayoutOpcode), call(notificationOpcode)))),
  );

const withdraw: Matcher<Type> = {
  pattern: followedByAll(built(jettonBurnType), paid('first'), paid('second'), as('event', call(0xc0ffee35))),
  build(root, found) {
    const { owner, wallet, jetton, amount } = jettonBurnOf(root)!;
    const { message, source: pool } = innerCall(found.one('event')!);
    const amounts = amountsBody(message);
    return {
      type: 'dex_withdraw_liquidity',
      columns: {
        source: owner,
        sourceSecondary: wallet,
        destination: pool,
        asset: jetton,
        data: withdrawalData({
          dex: 'coffee',
          first: withdrawn(found, 'first', amounts.amount1),
          second: withdrawn(found, 'second', amounts.amount2),
          burnt: amount,
        }),
      },
      failed: root.failed,
    };
  },
};

/** The pool orders vaults to pay. TON goes to the user as to a wallet. */
function withdrawn(found: Found, label: string, amount: bigint): WithdrawnAsset {
  const out = found.one(label)!;
  const { source: dexWallet } = innerCall(found.one(`order-${label}`)!);
  const transfer = jettonTransferOf(out);
  if (transfer !== undefined) {
    const { jetton, receiverWallet, senderWallet } = transfer;
    return { amount, asset: jetton, userWallet: receiverWallet, dexJettonWallet: senderWallet, dexWallet };
  }
  const { opcode, destination } = innerCall(out);
  return { amount, asset: null, userWallet: opcode === tonPayoutOpcode ? destination : null, dexWallet };
}

const vaultBody = body({ queryId: uint64, asset });

const createVault: Matcher<Type> = {
  pattern: followedBy(
    call(0xc0ffee06),
    as('deploy', followedBy(call(deployOpcode), maybe(followedBy(call(0x2c76b973), maybe(call(0xd1735400)))))),
  ),
  build(root, found) {
    const { message, source } = innerCall(root);
    return {
      type: 'coffee_create_vault',
      columns: {
        source,
        destination: innerCall(found.one('deploy')!).destination,
        asset: vaultBody(message).asset,
        value: message.value,
      },
      failed: root.failed,
    };
  },
};

/** Public part of the parameters of a new pool: its assets, its settings, and the beneficiary. */
const creatorBody = body({
  queryId: uint64,
  amount: coins,
  assets: poolAssets,
  kind: uint(3),
  settings: maybeRef,
  recipient: inRef(maybeAddress),
  sender: maybeAddress,
});

type Creator = { readonly amount: bigint; readonly provided: string | null; readonly isSecond: boolean };

const createCreator: Matcher<Type> = {
  pattern: after(
    as('in', first(jettonTransfer, call(0xc0ffee02))),
    followedBy(call(0xc0ffee23), as('deploy', call(deployOpcode))),
  ),
  build(root, found) {
    const incoming = incomingOf(found.one('in')!);
    const { amount, assets, recipient, sender } = creatorBody(innerCall(root).message);
    const isSecond = incoming.asset !== assets.asset1;
    return {
      type: creatorType,
      columns: {
        source: sender,
        sourceSecondary: incoming.sourceWallet,
        destination: recipient,
        destinationSecondary: innerCall(found.one('deploy')!).destination,
        asset: incoming.asset,
        asset2: assets.asset1,
        asset2Secondary: assets.asset2,
        amount,
      },
      data: { amount, provided: incoming.asset, isSecond } satisfies Creator,
      failed: root.failed,
    };
  },
};

const poolRequestBody = body({ queryId: uint64, amount1: coins, amount2: coins, initiator: maybeAddress });

const createPool: Matcher<Type> = {
  pattern: followedBy(
    built(creatorType),
    as(
      'request',
      followedBy(
        call(0xc0ffee25),
        as(
          'pool',
          followedByAll(
            call(deployOpcode),
            lp,
            as('event', call(0xc0ffee33)),
            maybe(followedBy(call(notificationOpcode), maybe(call(0xb216d31f)))),
          ),
        ),
      ),
    ),
  ),
  build(root, found) {
    const { source = null, sourceSecondary = null, destinationSecondary = null } = root.columns;
    const { amount, provided, isSecond } = root.data as Creator;
    const request = poolRequestBody(innerCall(found.one('request')!).message);
    const amounts = amountsBody(innerCall(found.one('event')!).message);
    const { amount1, amount2, initiator } = request;
    return {
      type: 'coffee_create_pool',
      columns: {
        source,
        sourceSecondary,
        destination: innerCall(found.one('pool')!).destination,
        destinationSecondary,
        asset: provided,
        asset2: isSecond ? (root.columns.asset2 ?? null) : (root.columns.asset2Secondary ?? null),
        amount,
        data: {
          coffee_create_pool_data: {
            amount_1: isSecond ? amount2 : amount1,
            amount_2: isSecond ? amount1 : amount2,
            initiator_1: isSecond ? initiator : source,
            initiator_2: isSecond ? source : initiator,
            provided_asset: provided,
            lp_tokens_minted: amounts.lpAmount,
            pool_creator_contract: null,
          },
        },
      },
      failed: root.failed,
    };
  },
};

const HOLD = 0x6bc79e7e;
const FAILED_SWAP = 0xee51ce51;

/** A call of this kind, or a transfer of jettons that carries it. */
const carried = (opcode: number) => ({
  test: (block: TraceFragment): boolean =>
    (block.type === 'call_contract' && innerCall(block).opcode === opcode) ||
    payloadOpcode(jettonTransferOf(block)?.forwardPayload ?? null) === opcode,
});

/** Funds reserved for a swap, against front-running. */
const holdFunds: Matcher<Type> = {
  pattern: after(maybe(followedBy(any, call(0xc0ffeea0))), carried(HOLD)),
  build(root) {
    const transfer = jettonTransferOf(root);
    const plain = transfer === undefined ? innerCall(root) : undefined;
    return {
      type: 'coffee_mev_protect_hold_funds',
      columns: {
        source: transfer?.sender ?? plain?.source ?? null,
        sourceSecondary: transfer?.senderWallet ?? null,
        destination: transfer?.receiver ?? plain?.destination ?? null,
        asset: transfer?.jetton ?? null,
        amount: transfer?.amount ?? plain?.message.value ?? null,
      },
      failed: root.failed,
    };
  },
};

/** Clients get no details of a failed swap. */
const failedSwap: Matcher<Type> = {
  pattern: carried(FAILED_SWAP),
  build: (root) => ({ type: 'coffee_mev_protect_failed_swap', columns: {}, failed: root.failed }),
};

type Type = keyof typeof coffeeTypes | keyof typeof swapTypes | keyof typeof liquidityTypes;

/** Actions of Coffee. */
export const coffee = {
  types: coffeeTypes,
  matchers: { deposit, swap, withdraw, createVault, createCreator, createPool, holdFunds, failedSwap },
} satisfies Family;
