import { named, type ActionColumns, type ActionData } from '../engine/columns.ts';
import type { JettonTransfer } from './jettons.ts';
import type { FamilyTypes } from '../engine/action-type.ts';

/** Pools are named only when there is more than one. */
export const several = (legs: readonly SwapLeg[]): readonly SwapLeg[] => (legs.length > 1 ? legs : []);

/** Side of a swap; a null asset is TON. */
export type SwapSide = {
  readonly amount: bigint | null;
  readonly asset: string | null;
  readonly source: string | null;
  readonly destination: string | null;
  readonly sourceWallet: string | null;
  readonly destinationWallet: string | null;
};

/** The side that a transfer of jettons is. */
export function sideOfTransfer(transfer: JettonTransfer): SwapSide {
  const { amount, jetton, sender, senderWallet, receiver, receiverWallet } = transfer;
  return {
    amount,
    asset: jetton,
    source: sender,
    destination: receiver,
    sourceWallet: senderWallet,
    destinationWallet: receiverWallet,
  };
}

/** The side that a payment of TON is. */
export function sideOfTon(amount: bigint | null, source: string | null, destination: string | null): SwapSide {
  return { amount, asset: null, source, destination, sourceWallet: null, destinationWallet: null };
}

/** Pool on the way of a swap. */
export type SwapLeg = {
  readonly assetIn: string | null;
  readonly amountIn: bigint | null;
  readonly assetOut: string | null;
  readonly amountOut: bigint | null;
};

/** Payment of a pool, the larger of two amounts. The router's wallets name the tokens. Pools that did not swap return their input. */
type Payout = {
  readonly isSwapped: boolean;
  readonly out: {
    readonly amount0: bigint;
    readonly token0: string | null;
    readonly amount1: bigint;
    readonly token1: string | null;
  } | null;
};

/** Pools that an amount went through, with the input of each: the first pool, and the later pools that swapped. */
export function legsOf(
  incoming: Pick<SwapSide, 'amount' | 'asset'>,
  payouts: readonly Payout[],
  assetOf: (wallet: string | null) => string | null,
): SwapLeg[] {
  const legs: SwapLeg[] = [];
  let { asset: assetIn, amount: amountIn } = incoming;
  for (const [index, { isSwapped, out }] of payouts.entries()) {
    if (out === null || (index > 0 && !isSwapped)) continue;
    const isFirst = out.amount0 >= out.amount1;
    const amountOut = isFirst ? out.amount0 : out.amount1;
    const assetOut = assetOf(isFirst ? out.token0 : out.token1);
    legs.push({ assetIn, amountIn, assetOut, amountOut });
    [assetIn, amountIn] = [assetOut, amountOut];
  }
  return legs;
}

export type Swap = {
  readonly dex: 'stonfi' | 'stonfi_v2' | 'dedust' | 'tonco' | 'coffee';
  readonly sender: string | null;
  readonly incoming: SwapSide;
  readonly outgoing: SwapSide;
  /** Legs of a swap over several pools. */
  readonly legs?: readonly SwapLeg[];
  readonly minOutAmount?: bigint | null;
};

function side({ amount, asset, source, destination, sourceWallet, destinationWallet }: SwapSide): ActionData {
  return {
    amount,
    asset,
    source: named(source),
    destination: named(destination),
    source_jetton_wallet: sourceWallet,
    destination_jetton_wallet: destinationWallet,
  };
}

/** Columns of a `jetton_swap`, the same for all exchanges. */
export function swapColumns(swap: Swap): ActionColumns {
  const { dex, sender, incoming, outgoing, legs = [], minOutAmount = null } = swap;
  return {
    source: sender,
    sourceSecondary: incoming.sourceWallet,
    destination: outgoing.destination,
    destinationSecondary: outgoing.destinationWallet,
    asset: incoming.asset,
    asset2: outgoing.asset,
    data: {
      jetton_swap_data: {
        dex,
        sender: named(sender),
        dex_incoming_transfer: side(incoming),
        dex_outgoing_transfer: side(outgoing),
        peer_swaps: legs.map((leg) => ({
          asset_in: leg.assetIn,
          amount_in: leg.amountIn,
          asset_out: leg.assetOut,
          amount_out: leg.amountOut,
        })),
        min_out_amount: minOutAmount,
      },
    },
  };
}

/** Types of swaps at all exchanges. */
export const swapTypes = {
  jetton_swap: {
    words: [
      'Swap',
      '{@sender} swaps {#dex_incoming_transfer.amount/asset_in} for {#dex_outgoing_transfer.amount/asset_out}[ at {dex}]',
    ],
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: {
      dex: 'text jetton_swap_data.dex',
      sender: 'address source',
      asset_in: 'address asset',
      asset_out: 'address asset2',
      dex_incoming_transfer: 'swap_transfer jetton_swap_data.dex_incoming_transfer',
      dex_outgoing_transfer: 'swap_transfer jetton_swap_data.dex_outgoing_transfer',
      peer_swaps: 'peer_swap[] jetton_swap_data.peer_swaps',
    },
    variant: {
      condition: 'jetton_swap_data.dex=tonco',
      fields: { min_out_amount: 'amount jetton_swap_data.min_out_amount' },
    },
  },
} satisfies FamilyTypes;
