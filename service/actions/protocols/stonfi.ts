import { callOf } from '../engine/basic-blocks.ts';
import type { TraceFragment } from '../engine/trace-fragment.ts';
import { address, body, coins, fields, inRef, maybeAddress, peek, tryRead, uint32, uint64 } from '../engine/body.ts';
import type { Matcher } from '../engine/matcher.ts';
import { as, built, call, followedBy, type Pattern } from '../engine/pattern.ts';
import { swapColumns } from '../operations/swap.ts';
import { innerCall, jettonTransferOf, jettonTransferType } from '../operations/jettons.ts';
import type { swapTypes } from '../operations/swap.ts';
import type { Family } from '../engine/family.ts';

// STON.fi, version 1: pools behind one router.

const SWAPPED = 0xc64370e5;
const REFERRAL = 0x45078540;
/** Exit codes of payments to the swapping account: the result, or the returned input. */
const SENDER_EXITS: ReadonlySet<number> = new Set([SWAPPED, 0x5ffe1295, 0x38976e9b]);

const swapOpcode = 0x25938561;
const paymentOpcode = 0xf93bb43f;

const paymentBody = body({
  queryId: uint64,
  owner: address,
  exitCode: uint32,
  out: inRef(fields({ amount0: coins, token0: address, amount1: coins, token1: address })),
});

/** The wallet of the router for what the swap should bring. */
const wantedPayload = fields({ opcode: uint32, tokenWallet: maybeAddress });

type Payment = {
  readonly exitCode: number;
  readonly amount: bigint;
  readonly tokenWallet: string;
  readonly transfer: TraceFragment | undefined;
};

function readPayment(request: TraceFragment, transfers: readonly TraceFragment[]): Payment {
  const { exitCode, out } = paymentBody(innerCall(request).message);
  const isFirst = out.amount0 > 0n;
  return {
    exitCode,
    amount: isFirst ? out.amount0 : out.amount1,
    tokenWallet: isFirst ? out.token0 : out.token1,
    transfer: transfers.find(({ previous }) => previous === request),
  };
}

/** Payment of the swap. The payment to a referrer is no part of the swap. */
const payment: Pattern = {
  test(block) {
    const found = callOf(block);
    return found?.opcode === paymentOpcode && tryRead(() => paymentBody(found.message).exitCode) !== REFERRAL;
  },
};

const swap: Matcher<Type> = {
  pattern: followedBy(
    built(jettonTransferType),
    followedBy(call(swapOpcode), as('payment', followedBy(payment, as('out', built(jettonTransferType))))),
  ),
  build(root, found, { interfaces }) {
    const incoming = jettonTransferOf(root)!;
    const payments = found.all('payment').map((request) => readPayment(request, found.all('out')));
    const own = payments.filter(({ exitCode }) => SENDER_EXITS.has(exitCode));
    const best = own.reduce<Payment | undefined>(
      (one, other) => (one && one.amount >= other.amount ? one : other),
      undefined,
    );
    const out = jettonTransferOf(best?.transfer);
    if (best === undefined || out === undefined) return undefined;
    const wanted = incoming.forwardPayload && peek(incoming.forwardPayload, wantedPayload)?.tokenWallet;
    const asset2 = (wanted && interfaces.jettonWallet(wanted)?.jetton) ?? out.jetton;
    const isProxied = !incoming.hasInternalTransfer;
    const columns = swapColumns({
      dex: 'stonfi',
      sender: incoming.sender,
      incoming: {
        amount: incoming.amount,
        asset: incoming.jetton,
        source: incoming.sender,
        // Proxy TON goes to the owner of its wallet, regardless of the order.
        destination: isProxied ? (interfaces.jettonWallet(incoming.senderWallet)?.owner ?? null) : incoming.receiver,
        sourceWallet: isProxied ? null : incoming.senderWallet,
        destinationWallet: isProxied ? incoming.senderWallet : incoming.receiverWallet,
      },
      outgoing: {
        amount: best.amount,
        asset: out.jetton,
        source: out.sender,
        destination: out.receiver,
        sourceWallet: out.hasInternalTransfer ? out.senderWallet : null,
        destinationWallet: out.receiverWallet,
      },
    });
    return {
      type: 'jetton_swap',
      // The router's wallet of what the swap should bring.
      columns: { ...columns, asset2, destinationSecondary: wanted ?? best.tokenWallet },
      failed: own.at(-1)?.exitCode !== SWAPPED,
    };
  },
};

type Type = keyof typeof swapTypes;

/** Actions of the first STON.fi. */
export const stonfi = { types: {}, matchers: { swap } } satisfies Family;
