import type { Block } from './block.ts';
import { address, body, coins, fields, inRef, peek, uint32, uint64 } from './body.ts';
import type { Matcher } from './matcher.ts';
import { as, built, call, followedBy } from './pattern.ts';
import { swapColumns } from './swap.ts';
import { innerCall, jettonTransferOf, jettonTransferType } from './jettons.ts';

// STON.fi, version 1: pools behind one router.

const SWAPPED = 0xc64370e5;
const REFERRAL = 0x45078540;
/** Payments to the one who swaps: the result, or what came back. */
const SENDER_EXITS: ReadonlySet<number> = new Set([SWAPPED, 0x5ffe1295, 0x38976e9b]);

const swapOpcode = 0x25938561;

const paymentBody = body({
  queryId: uint64,
  owner: address,
  exitCode: uint32,
  out: inRef(fields({ amount0: coins, token0: address, amount1: coins, token1: address })),
});

/** The wallet of the router for what the swap should bring. */
const wantedPayload = fields({ opcode: uint32, tokenWallet: address });

type Payment = {
  readonly exitCode: number;
  readonly amount: bigint;
  readonly tokenWallet: string;
  readonly transfer: Block | undefined;
};

function readPayment(request: Block, transfers: readonly Block[]): Payment {
  const { exitCode, out } = paymentBody(innerCall(request).message);
  const isFirst = out.amount0 > 0n;
  return {
    exitCode,
    amount: isFirst ? out.amount0 : out.amount1,
    tokenWallet: isFirst ? out.token0 : out.token1,
    transfer: transfers.find(({ previous }) => previous === request),
  };
}

const swap: Matcher = {
  pattern: followedBy(
    built(jettonTransferType),
    followedBy(call(swapOpcode), as('payment', followedBy(call(0xf93bb43f), as('out', built(jettonTransferType))))),
  ),
  build(root, found, { interfaces }) {
    const incoming = jettonTransferOf(root)!;
    const payments = found.all('payment').map((request) => readPayment(request, found.all('out')));
    const own = payments.filter(({ exitCode }) => exitCode !== REFERRAL && SENDER_EXITS.has(exitCode));
    const best = own.reduce<Payment | undefined>(
      (one, other) => (one && one.amount >= other.amount ? one : other),
      undefined,
    );
    const out = jettonTransferOf(best?.transfer);
    if (best === undefined || out === undefined) return undefined;
    const wanted = incoming.forwardPayload && peek(incoming.forwardPayload, wantedPayload);
    const asset2 = (wanted && interfaces.jettonWallet(wanted.tokenWallet)?.jetton) ?? out.jetton;
    const isProxied = !incoming.hasInternalTransfer;
    const columns = swapColumns({
      dex: 'stonfi',
      sender: incoming.sender,
      incoming: {
        amount: incoming.amount,
        asset: incoming.jetton,
        source: incoming.sender,
        destination: incoming.receiver,
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
      // The router's wallet of what was paid out, which the payment names.
      columns: { ...columns, asset2, destinationSecondary: best.tokenWallet },
      failed: !payments.some(({ exitCode }) => exitCode === SWAPPED),
    };
  },
};

/** By their place in the order of all matchers (indexing sheet 9.4). */
export const stonfiMatchers: Readonly<Record<number, Matcher>> = { 20: swap };
