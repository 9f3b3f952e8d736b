import type { Block } from './block.ts';
import { callOf } from './basic-blocks.ts';
import { address, body, coins, fields, inRef, maybeRef, payload, tryRead, uint32, uint64 } from './body.ts';
import type { Interfaces } from './interfaces.ts';
import type { Matcher } from './matcher.ts';
import { after, as, built, call, first, followedBy, lazy, maybe, type Found, type Pattern } from './pattern.ts';
import { legsOf, sideOfTransfer, swapColumns, type SwapLeg, type SwapSide } from './swap.ts';
import {
  innerCall,
  jettonTransferOf,
  jettonTransferType,
  notifyOpcode,
  payloadOpcode,
  proxyTonMasters,
} from './jettons.ts';

// STON.fi, version 2: a swap may go over the pools of several routers.

const swapOpcode = 0x6664de2a;
export const payToOpcode = 0x657b54f5;
export const proxyTonOpcode = 0x01f3835d;
const SWAPPED = 0xc64370e5;

const payToBody = body({
  queryId: uint64,
  to: address,
  excesses: address,
  caller: address,
  exitCode: uint32,
  customPayload: maybeRef,
  out: inRef(fields({ forwardTon: coins, amount0: coins, token0: address, amount1: coins, token1: address })),
});

const swapBody = body({
  queryId: uint64,
  from: address,
  left: coins,
  right: coins,
  order: inRef(fields({ opcode: uint32, tokenWallet: address })),
});

export const proxyTonBody = body({ queryId: uint64, amount: coins, refund: address });

/** To a wallet of proxy TON. */
export const proxyTransfer: Pattern = built(
  jettonTransferType,
  (block) => !jettonTransferOf(block)!.hasInternalTransfer,
);

const proxyTonPayload = body({ queryId: uint64, amount: coins, refund: address, payload });

/** Of a transfer of proxy TON to another router, which is to go on with it: what goes out of the exchange may begin something else there. */
const proxyToPool: Pattern = {
  ...call(proxyTonOpcode),
  test(block) {
    const found = callOf(block);
    if (found?.opcode !== proxyTonOpcode) return false;
    if (found.message.destination !== jettonTransferOf(block.previous)?.receiver) return false;
    const carried = tryRead(() => proxyTonPayload(found.message).payload) ?? null;
    return payloadOpcode(carried) === swapOpcode;
  },
};

/** Where a pool's payout goes: to the next pool, or out. */
const payout: Pattern = as(
  'payout',
  followedBy(
    call(payToOpcode),
    maybe(
      first(
        followedBy(
          as('out', proxyTransfer),
          maybe(followedBy(proxyToPool, followedBy(call(notifyOpcode), maybe(lazy(() => peerSwap))))),
        ),
        followedBy(as('out', built(jettonTransferType)), maybe(lazy(() => peerSwap))),
        lazy(() => peerSwap),
      ),
    ),
  ),
);

const peerSwap: Pattern = as('swap', followedBy(call(swapOpcode), payout));

const swap: Matcher = {
  pattern: after(
    first(as('jettons', built(jettonTransferType)), after(as('ton', call(proxyTonOpcode)), call(notifyOpcode))),
    as('swap', followedBy(call(swapOpcode), payout)),
  ),
  build(_root, found, { interfaces }) {
    const incoming = incomingOf(found);
    const swaps = found.all('swap');
    const payouts = found.all('payout').map((block) => payToBody(innerCall(block).message));
    const legs = legsOf(incoming, payouts, (wallet) => assetOfWallet(wallet, interfaces));
    const failed = payouts.some(({ exitCode }) => exitCode !== SWAPPED);
    const outgoing = outgoingOf(found, legs.at(-1), payouts.at(-1)?.to ?? null);
    const wanted = assetOfWallet(swapBody(innerCall(swaps.at(-1)!).message).order.tokenWallet, interfaces);
    const columns = swapColumns({ dex: 'stonfi_v2', sender: incoming.source, incoming, outgoing, legs });
    return { type: 'jetton_swap', columns: failed ? { ...columns, asset2: wanted } : columns, failed };
  },
};

/** Wallets of proxy TON stand for TON. */
export function assetOfWallet(wallet: string, interfaces: Interfaces): string | null {
  const jetton = interfaces.jettonWallet(wallet)?.jetton ?? null;
  return jetton !== null && proxyTonMasters.has(jetton) ? null : jetton;
}

/** What came into a chain of pools: TON through its proxy, or jettons. */
export function incomingOf(found: Found): SwapSide {
  const ton = found.one('ton');
  if (ton !== undefined) {
    const { message, source } = innerCall(ton);
    const router = found.one('swap')!.previous;
    return {
      amount: proxyTonBody(message).amount,
      asset: null,
      source,
      destination: router === undefined ? null : innerCall(router).destination,
      sourceWallet: null,
      destinationWallet: innerCall(ton).destination,
    };
  }
  return sideOfTransfer(jettonTransferOf(found.one('jettons'))!);
}

/** What the last pool of a chain paid. */
export function outgoingOf(found: Found, last: SwapLeg | undefined, to: string | null): SwapSide {
  const block: Block | undefined = found.all('out').at(-1);
  const transfer = jettonTransferOf(block);
  const isTon = last?.assetOut === null;
  return {
    amount: last?.amountOut ?? null,
    asset: last?.assetOut ?? null,
    source: transfer?.sender ?? null,
    destination: transfer?.receiver ?? to,
    sourceWallet: isTon ? null : (transfer?.senderWallet ?? null),
    destinationWallet: isTon ? null : (transfer?.receiverWallet ?? null),
  };
}

/** By their place in the order of all matchers (indexing sheet 9.4). */
export const stonfiV2Matchers: Readonly<Record<number, Matcher>> = { 21: swap };
