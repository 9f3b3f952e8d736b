import type { CellSlice } from '../decode/cell-slice.ts';
import { callOf } from './basic-blocks.ts';
import { byStart, type Block } from './block.ts';
import { body, coins, ref, uint64, type FieldReader } from './body.ts';
import { withdrawalData, type WithdrawnAsset } from './liquidity.ts';
import type { Matcher } from './matcher.ts';
import { after, as, built, call, first, followedBy, followedByAll, maybe, repeat, type Found } from './pattern.ts';
import { sideOfTon, sideOfTransfer, swapColumns, type SwapLeg, type SwapSide } from './swap.ts';
import {
  burnBody,
  burnNotificationOpcode,
  burnOpcode,
  innerCall,
  jettonTransferOf,
  jettonTransferType,
  payloadOpcode,
} from './jettons.ts';

// DeDust: pools, with a vault for each asset.

export const payoutOpcode = 0x474f86cf;
const poolPayoutOpcode = 0xad4eb6f5;
const swapEvent = 0x9c610de3;
const swapOpcodes = [0x61ee542d, 0x72aca8aa] as const;
const JETTON_SWAP = 0xe3a0d482;

/** `native$0000`, `jetton$0001 workchain_id:int8 address:uint256`; null for TON. */
export const dedustAsset: FieldReader<string | null> = (slice: CellSlice) => {
  if (slice.uint(4) === 0) return null;
  const workchain = slice.int(8);
  return `${workchain}:${slice.bytes(32).toString('hex').toUpperCase()}`;
};

export const payoutBody = body({ queryId: uint64, proof: ref, amount: coins });
const nativeSwapBody = body({ queryId: uint64, amount: coins });
const eventBody = body({ assetIn: dedustAsset, assetOut: dedustAsset, amountIn: coins, amountOut: coins });

const jettonTransfer = built(jettonTransferType);
const event = maybe(as('event', call(swapEvent)));
const payout = as(
  'pool-payout',
  followedBy(call(poolPayoutOpcode), as('out', first(jettonTransfer, call(payoutOpcode)))),
);
const step = as('step', followedByAll(call(...swapOpcodes), event));

const swap: Matcher = {
  pattern: after(
    as('in', first(jettonTransfer, call(0xea06185d))),
    followedByAll(call(0x61ee542d), first(payout, repeat(step, payout)), event),
  ),
  build(_root, found) {
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
    return {
      type: 'jetton_swap',
      columns: swapColumns({ dex: 'dedust', sender: incoming.source, incoming, outgoing: result, legs }),
      failed: events.length < found.all('step').length + 1,
    };
  },
};

function incomingOf(block: Block): SwapSide {
  const transfer = jettonTransferOf(block);
  if (transfer !== undefined) return sideOfTransfer(transfer);
  const { message, source, destination } = innerCall(block);
  return sideOfTon(nativeSwapBody(message).amount, source, destination);
}

function outgoingOf(out: Block, poolPayout: Block): SwapSide {
  const { amount } = payoutBody(innerCall(poolPayout).message);
  const transfer = jettonTransferOf(out);
  if (transfer !== undefined) return { ...sideOfTransfer(transfer), amount };
  const { source, destination } = innerCall(out);
  return sideOfTon(amount, source, destination);
}

const withdrawalPayout = (label: string) =>
  as(`pool-${label}`, followedBy(call(poolPayoutOpcode), as(label, first(call(payoutOpcode), jettonTransfer))));

const withdraw: Matcher = {
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

/** By their place in the order of all matchers (indexing sheet 9.4). */
export const dedustMatchers: Readonly<Record<number, Matcher>> = { 17: withdraw, 19: swap };
