import { byStart, type TraceFragment } from '../engine/trace-fragment.ts';
import { callOf } from '../engine/basic-blocks.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import {
  address,
  body,
  coins,
  fields,
  inRef,
  maybeAddress,
  maybeRef,
  payload,
  peek,
  ref,
  tryRead,
  uint32,
  uint64,
} from '../engine/body.ts';
import type { Interfaces } from '../engine/interfaces.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, built, call, first, followedBy, lazy, maybe, type Found, type Pattern } from '../engine/pattern.ts';
import { legsOf, several, sideOfTransfer, swapColumns, type SwapSide } from '../operations/swap.ts';
import {
  innerCall,
  jettonTransferOf,
  jettonTransferType,
  notifyOpcode,
  payloadOpcode,
  proxyTonMasters,
  type JettonTransfer,
} from '../operations/jettons.ts';
import type { swapTypes } from '../operations/swap.ts';
import type { Family } from '../engine/family.ts';

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
  out: inRef(fields({ forwardTon: coins, amount0: coins, token0: maybeAddress, amount1: coins, token1: maybeAddress })),
});

const swapBody = body({ queryId: uint64, from: address, left: coins, right: coins, order: ref });

const orderOpcodes: readonly number[] = [swapOpcode, 0x69cf1a5b];
/** The router's wallet for what a swap should bring; terms in a reference, with the order for the next pool. */
const order = fields({ opcode: uint32, tokenWallet: maybeAddress });
const terms = fields({ minimum: coins, receiver: address, forwardTon: coins, next: maybeRef });

/** An order holds those for the pools behind it: no message is deeper than this many cells. */
const ORDERS_MAX = 512;

/** The wallet for what comes out at the end of a route. Throws DecodeError. */
function wantedWallet(swap: TraceFragment): string | null {
  let wanted: string | null = null;
  let at: ContractSlice | null = swapBody(innerCall(swap).message).order;
  for (let depth = 0; at !== null && depth < ORDERS_MAX; depth++) {
    const read = order(at);
    if (depth > 0 && !orderOpcodes.includes(read.opcode)) break;
    wanted = read.tokenWallet;
    at = peek(at, (slice) => terms(slice.refSlice()).next) ?? null;
  }
  return wanted;
}

export const proxyTonBody = body({ queryId: uint64, amount: coins, refund: address });

/** To a wallet of proxy TON. */
export const proxyTransfer: Pattern = built(
  jettonTransferType,
  (block) => !jettonTransferOf(block)!.hasInternalTransfer,
);

const proxyTonPayload = body({ queryId: uint64, amount: coins, refund: address, payload });

/** Transfer of proxy TON to another router that continues the swap. The payout of this exchange may begin another operation there. */
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

/** Destination of a pool's payout: the next pool, or out. A pool that pays nothing is no part of the swap. */
const payout: Pattern = as(
  'payout',
  followedBy(
    call(payToOpcode),
    first(
      followedBy(
        as('out', proxyTransfer),
        maybe(followedBy(proxyToPool, followedBy(call(notifyOpcode), maybe(lazy(() => peerSwap))))),
      ),
      followedBy(as('out', built(jettonTransferType)), maybe(lazy(() => peerSwap))),
      lazy(() => peerSwap),
    ),
  ),
);

const peerSwap: Pattern = as('swap', followedBy(call(swapOpcode), payout));

const swap: Matcher<Type> = {
  pattern: after(
    first(as('jettons', built(jettonTransferType)), after(as('ton', call(proxyTonOpcode)), call(notifyOpcode))),
    as('swap', followedBy(call(swapOpcode), payout)),
  ),
  build(_root, found, { interfaces }) {
    const incoming = incomingOf(found);
    const out = lastOut(found);
    const outgoing = outgoingOf(out);
    if (outgoing === undefined) return undefined;
    const payouts = found.all('payout').map((block) => {
      const { exitCode, out: paid } = payToBody(innerCall(block).message);
      return { isSwapped: exitCode === SWAPPED, out: paid };
    });
    // Pools after a pool that did not swap got nothing.
    const reached = payouts[0]?.isSwapped === true ? payouts : payouts.slice(0, 1);
    const legs = several(legsOf(incoming, reached, (wallet) => assetOfWallet(wallet, interfaces)));
    const failed = payouts.some(({ isSwapped }) => !isSwapped);
    const columns = swapColumns({ dex: 'stonfi_v2', sender: incoming.source, incoming, outgoing, legs });
    const wanted = failed ? (wantedWallet(found.one('swap')!) ?? '') : '';
    const isKnown = interfaces.jettonWallet(wanted) !== undefined;
    return {
      type: 'jetton_swap',
      columns: isKnown ? { ...columns, asset2: assetOfWallet(wanted, interfaces) } : columns,
      failed,
      also: proxyTonAfter(out),
    };
  },
};

/** Proxy TON stands for TON. */
const assetOfJetton = (jetton: string | null): string | null =>
  jetton !== null && proxyTonMasters.has(jetton) ? null : jetton;

/** Wallets of proxy TON stand for TON. */
export function assetOfWallet(wallet: string | null, interfaces: Interfaces): string | null {
  return wallet === null ? null : assetOfJetton(interfaces.jettonWallet(wallet)?.jetton ?? null);
}

/** TON that a proxy TON wallet pays for a transfer. */
export function proxyTonAfter({ next }: TraceFragment): readonly TraceFragment[] {
  return next.filter((block) => callOf(block)?.opcode === proxyTonOpcode).slice(0, 1);
}

/** Last output of a chain of pools. Earlier pools may have returned amounts that they could not use. */
export function lastOut(found: Found): TraceFragment {
  return found.all('out').toSorted(byStart).at(-1)!;
}

/** Input of a chain of pools: TON through its proxy, or jettons. */
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
  return sideOfJettons(jettonTransferOf(found.one('jettons'))!);
}

/** Side of a swap from a jetton transfer. Wallets are unknown for proxy TON. */
export function sideOfJettons(transfer: JettonTransfer): SwapSide {
  const side = { ...sideOfTransfer(transfer), asset: assetOfJetton(transfer.jetton) };
  return transfer.hasInternalTransfer ? side : { ...side, sourceWallet: null };
}

/** Payment of the last pool: jettons, or TON through the proxy. Undefined when the proxy did not pay. */
function outgoingOf(out: TraceFragment): SwapSide | undefined {
  const transfer = jettonTransferOf(out)!;
  const [proxied] = proxyTonAfter(out);
  if (proxied === undefined) return transfer.hasInternalTransfer ? sideOfJettons(transfer) : undefined;
  const { message, destination } = innerCall(proxied);
  return {
    amount: proxyTonBody(message).amount,
    asset: null,
    source: transfer.sender,
    destination,
    sourceWallet: transfer.hasInternalTransfer ? transfer.senderWallet : null,
    destinationWallet: null,
  };
}

type Type = keyof typeof swapTypes;

/** Actions of the second STON.fi. */
export const stonfiV2 = { types: {}, matchers: { swap } } satisfies Family;
