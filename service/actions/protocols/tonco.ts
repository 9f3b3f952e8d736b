import type { ContractSlice } from '#service/decode/cell-slice.ts';
import {
  address,
  bigUint,
  body,
  coins,
  fields,
  maybeAddress,
  maybeRef,
  payload,
  peek,
  tryRead,
  uint32,
  uint64,
} from '../engine/body.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, built, call, first, followedBy, lazy, type Found, type Pattern } from '../engine/pattern.ts';
import { legsOf, sideOfTon, swapColumns } from '../operations/swap.ts';
import {
  innerCall,
  jettonTransferOf,
  jettonTransferType,
  notifyOpcode,
  transferOpcode,
} from '../operations/jettons.ts';
import {
  assetOfWallet,
  incomingOf,
  lastOut,
  proxyTonAfter,
  proxyTonOpcode,
  proxyTransfer,
  sideOfJettons,
} from './stonfi-v2.ts';
import type { swapTypes } from '../operations/swap.ts';
import type { Family } from '../engine/family.ts';

// TONCO: swaps through one pool or a route of pools.

const swapOpcode = 0xa7fb58f8;
export const payToOpcode = 0xa1daa96d;
const SWAPPED: ReadonlySet<number> = new Set([0, 200]);

export const payToBody = body({
  queryId: uint64,
  receiver0: maybeAddress,
  receiver1: maybeAddress,
  exitCode: uint32,
  seqno: uint64,
  out: (slice) => {
    const cell = maybeRef(slice);
    return cell && paid(cell);
  },
});
const paid = fields({ amount0: coins, token0: maybeAddress, amount1: coins, token1: maybeAddress });

export const proxyTonBody = body({ queryId: uint64, amount: coins, refund: address, payload });

export const jettonTransfer = built(jettonTransferType);

const payout: Pattern = as(
  'payout',
  followedBy(
    call(payToOpcode),
    first(
      followedBy(
        as('out', proxyTransfer),
        followedBy(
          call(proxyTonOpcode),
          followedBy(
            call(notifyOpcode),
            lazy(() => peerSwap),
          ),
        ),
      ),
      followedBy(
        as('out', jettonTransfer),
        lazy(() => peerSwap),
      ),
      // To an unknown proxy wallet.
      followedBy(as('out', call(transferOpcode)), call(proxyTonOpcode)),
      as('out', jettonTransfer),
    ),
  ),
);

const peerSwap: Pattern = as('swap', followedBy(call(swapOpcode), payout));

const swap: Matcher<Type> = {
  pattern: after(
    first(as('jettons', jettonTransfer), after(as('ton', call(proxyTonOpcode)), call(notifyOpcode))),
    as('swap', followedBy(call(swapOpcode), payout)),
  ),
  build(_root, found, { interfaces }) {
    const out = lastOut(found);
    const incoming = incomingOf(found);
    const orders = found.all('payout').map((block) => payToBody(innerCall(block).message));
    const payouts = orders.map(({ exitCode, ...rest }) => ({ isSwapped: SWAPPED.has(exitCode), out: rest.out }));
    const legs = legsOf(incoming, payouts, (wallet) => assetOfWallet(wallet, interfaces));
    const failed = payouts.some(({ isSwapped }) => !isSwapped);
    const transfer = jettonTransferOf(out);
    const outgoing =
      transfer === undefined
        ? sideOfTon(legs.at(-1)?.amountOut ?? null, null, orders.at(-1)!.receiver0)
        : sideOfJettons(transfer);
    const wanted = failed ? wantedLeg(orderBefore(found)) : undefined;
    const isKnown = wanted !== undefined && interfaces.jettonWallet(wanted.wallet) !== undefined;
    const columns = swapColumns({
      dex: 'tonco',
      sender: incoming.source,
      incoming,
      outgoing,
      legs: payouts.length > 1 ? legs : [],
      minOutAmount: wanted?.minOut ?? outgoing.amount,
    });
    return {
      type: 'jetton_swap',
      columns: isKnown ? { ...columns, asset2: assetOfWallet(wanted.wallet, interfaces) } : columns,
      failed,
      also: proxyTonAfter(out),
    };
  },
};

/** Part of the order that came with the input of a swap: the output's router wallet, the minimum, and the next order. */
const leg = fields({
  opcode: uint32,
  wallet: address,
  priceLimit: bigUint(160),
  minOut: coins,
  recipient: address,
  next: maybeRef,
});

/** An order holds those for the pools behind it: no message is deeper than this many cells. */
const LEGS_MAX = 512;

/** The last pool of a route; undefined when its order cannot be read. */
function wantedLeg(order: ContractSlice | undefined): { readonly wallet: string; readonly minOut: bigint } | undefined {
  let wanted: ReturnType<typeof leg> | undefined;
  let at = order;
  for (let depth = 0; at !== undefined && depth < LEGS_MAX; depth++) {
    const read = peek(at, leg);
    if (read === undefined || (depth > 0 && read.opcode !== swapOpcode)) break;
    wanted = read;
    at = read.next ?? undefined;
  }
  return wanted;
}

/** The order that a swap began with, where proxy TON carried it. TON Center reads none that jettons carried. */
function orderBefore(found: Found): ContractSlice | undefined {
  const ton = found.one('ton');
  return ton && (tryRead(() => proxyTonBody(innerCall(ton).message).payload) ?? undefined);
}

type Type = keyof typeof swapTypes;

/** Actions of TONCO. */
export const tonco = { types: {}, matchers: { swap } } satisfies Family;
