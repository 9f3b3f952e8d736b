import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { callOf } from '../engine/basic-blocks.ts';
import { byStart, type TraceFragment } from '../engine/trace-fragment.ts';
import {
  address,
  bit,
  body,
  coins,
  fields,
  maybeRef,
  peek,
  ref,
  rest,
  uint32,
  uint64,
  type FieldReader,
} from '../engine/body.ts';
import type { Interfaces } from '../engine/interfaces.ts';
import { withdrawalData, type WithdrawnAsset } from '../operations/liquidity.ts';
import type { Matcher } from '../engine/matcher.ts';
import {
  after,
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
  burnBody,
  burnNotificationOpcode,
  burnOpcode,
  innerCall,
  jettonTransferOf,
  jettonTransferType,
  payloadOpcode,
} from '../operations/jettons.ts';
import type { swapTypes } from '../operations/swap.ts';
import type { liquidityTypes } from '../operations/liquidity.ts';
import type { Family } from '../engine/family.ts';

// DeDust: pools, with a vault for each asset.

export const payoutOpcode = 0x474f86cf;
const poolPayoutOpcode = 0xad4eb6f5;
const swapEvent = 0x9c610de3;
const swapOpcodes = [0x61ee542d, 0x72aca8aa] as const;
const JETTON_SWAP = 0xe3a0d482;

/** `native$0000`, `jetton$0001 workchain_id:int8 address:uint256`; null for TON. */
export const dedustAsset: FieldReader<string | null> = (slice: ContractSlice) => {
  if (slice.uint(4) === 0) return null;
  const workchain = slice.int(8);
  return `${workchain}:${slice.bytes(32).toString('hex').toUpperCase()}`;
};

export const payoutBody = body({ queryId: uint64, proof: ref, amount: coins });
const nativeSwapBody = body({ queryId: uint64, amount: coins, steps: rest });
const jettonSwapPayload = fields({ opcode: uint32, steps: rest });
/** `step#_ pool_addr:MsgAddressInt kind:SwapKind limit:Coins next:(Maybe ^SwapStep)` (DeDust's own description of its messages). */
const swapStep = fields({ pool: address, isGivenOut: bit, limit: coins, next: maybeRef });
const eventBody = body({ assetIn: dedustAsset, assetOut: dedustAsset, amountIn: coins, amountOut: coins });

const jettonTransfer = built(jettonTransferType);
const event = maybe(as('event', call(swapEvent)));
const payout = as(
  'pool-payout',
  followedBy(call(poolPayoutOpcode), as('out', first(jettonTransfer, call(payoutOpcode)))),
);
const step = as('step', followedByAll(call(...swapOpcodes), event));

const swap: Matcher<Type> = {
  pattern: after(
    as('in', first(jettonTransfer, call(0xea06185d))),
    followedByAll(call(0x61ee542d), first(payout, repeat(step, payout)), event),
  ),
  build(_root, found, { interfaces }) {
    const from = found.one('in')!;
    const transfer = jettonTransferOf(from);
    if (transfer !== undefined && payloadOpcode(transfer.forwardPayload) !== JETTON_SWAP) return undefined;
    const incoming = incomingOf(from);
    const events = found
      .all('event')
      .toSorted(byStart)
      .map((block) => eventBody(callOf(block)!.message));
    const outgoing = outgoingOf(found.one('out')!, found.one('pool-payout')!);
    const last = events.at(-1);
    const legs = events.map(({ assetIn, amountIn, assetOut, amountOut }): SwapLeg => ({
      assetIn,
      amountIn,
      assetOut,
      amountOut,
    }));
    const result = { ...outgoing, ...(last !== undefined && { asset: last.assetOut, amount: last.amountOut }) };
    const columns = swapColumns({
      dex: 'dedust',
      sender: incoming.source,
      incoming,
      outgoing: result,
      legs: several(legs),
    });
    const wanted = wantedAsset(stepsOf(from), incoming.asset, interfaces);
    return {
      type: 'jetton_swap',
      // If a swap failed on its way, the returned asset is another.
      columns: wanted === undefined ? columns : { ...columns, asset2: wanted },
      failed: events.length < found.all('step').length + 1,
    };
  },
};

/** The list of pools that an order to swap carries; undefined when it cannot be read. */
function stepsOf(from: TraceFragment): ContractSlice | undefined {
  const transfer = jettonTransferOf(from);
  if (transfer === undefined) return nativeSwapBody(innerCall(from).message).steps;
  return transfer.forwardPayload === null ? undefined : peek(transfer.forwardPayload, jettonSwapPayload)?.steps;
}

/** Asset that `asset` becomes after all steps; null for TON. Undefined when a pool on the way is unknown or lacks the asset. */
function wantedAsset(
  steps: ContractSlice | undefined,
  asset: string | null,
  interfaces: Interfaces,
): string | null | undefined {
  let wanted = asset;
  for (let at = steps ?? null; at !== null;) {
    const ordered = peek(at, swapStep);
    const assets = ordered && interfaces.dedustPool(ordered.pool)?.assets;
    if (ordered === undefined || assets === undefined || !assets.includes(wanted)) return undefined;
    const other = assets.find((one) => one !== wanted);
    if (other === undefined) return undefined;
    wanted = other;
    at = ordered.next;
  }
  return steps === undefined ? undefined : wanted;
}

function incomingOf(block: TraceFragment): SwapSide {
  const transfer = jettonTransferOf(block);
  if (transfer !== undefined) return sideOfTransfer(transfer);
  const { message, source, destination } = innerCall(block);
  return sideOfTon(nativeSwapBody(message).amount, source, destination);
}

function outgoingOf(out: TraceFragment, poolPayout: TraceFragment): SwapSide {
  const { amount } = payoutBody(innerCall(poolPayout).message);
  const transfer = jettonTransferOf(out);
  if (transfer !== undefined) return { ...sideOfTransfer(transfer), amount };
  const { source, destination } = innerCall(out);
  return sideOfTon(amount, source, destination);
}

const withdrawalPayout = (label: string) =>
  as(`pool-${label}`, followedBy(call(poolPayoutOpcode), as(label, first(call(payoutOpcode), jettonTransfer))));

const withdraw: Matcher<Type> = {
  pattern: followedBy(
    call(burnOpcode),
    as(
      'notification',
      followedByAll(call(burnNotificationOpcode), withdrawalPayout('first'), withdrawalPayout('second')),
    ),
  ),
  build(root, found, { interfaces }) {
    const { message, source, destination: wallet } = innerCall(root);
    const known = interfaces.jettonWallet(wallet);
    if (known === undefined) return undefined;
    return {
      type: 'dex_withdraw_liquidity',
      columns: {
        source,
        sourceSecondary: wallet,
        destination: innerCall(found.one('notification')!).destination,
        asset: known.jetton,
        data: withdrawalData({
          dex: 'dedust',
          first: withdrawn(found, 'first'),
          second: withdrawn(found, 'second'),
          burnt: burnBody(message).amount,
        }),
      },
      failed: root.failed,
    };
  },
};

function withdrawn(found: Found, label: string): WithdrawnAsset {
  const { amount } = payoutBody(innerCall(found.one(`pool-${label}`)!).message);
  const paid = found.one(label)!;
  const transfer = jettonTransferOf(paid);
  if (transfer === undefined) return { amount, asset: null, dexWallet: innerCall(paid).source };
  return {
    amount,
    asset: transfer.jetton,
    userWallet: transfer.receiverWallet,
    dexJettonWallet: transfer.senderWallet,
    dexWallet: transfer.sender,
  };
}

type Type = keyof typeof swapTypes | keyof typeof liquidityTypes;

/** Actions of DeDust. */
export const dedust = { types: {}, matchers: { withdraw, swap } } satisfies Family;
