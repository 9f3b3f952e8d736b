import type { Action, Transaction } from '../objects.ts';

/** Changes of one account in a trace. */
export type AccountFlow = {
  readonly account: string;
  /** Nanotons more (or less) than before the trace; fees are included. */
  readonly nanotons: bigint;
  /** Nanotons of fees that the account paid. */
  readonly fees: bigint;
  /** Smallest units of jettons by their master. */
  readonly jettons: ReadonlyMap<string, bigint>;
  /** NFT items that came (1) or left (-1). */
  readonly nfts: ReadonlyMap<string, number>;
};

type OpenFlow = { nanotons: bigint; fees: bigint; jettons: Map<string, bigint>; nfts: Map<string, number> };

/**
 * Sums up who gained and who lost in a trace. TON are differences of balances; where a state has no balance, the sum of messages and fees.
 * Tokens come from actions that succeeded.
 * @returns accounts with a change, the largest loss of TON first
 */
export function valueFlowOf(transactions: readonly Transaction[], actions: readonly Action[]): AccountFlow[] {
  const flows = new Map<string, OpenFlow>();
  const flow = (account: string): OpenFlow => {
    const found = flows.get(account) ?? { nanotons: 0n, fees: 0n, jettons: new Map(), nfts: new Map() };
    flows.set(account, found);
    return found;
  };
  for (const transaction of transactions) {
    const one = flow(transaction.account);
    one.nanotons += changeOf(transaction);
    one.fees += feesOf(transaction);
  }
  for (const action of actions) {
    if (!action.success) continue;
    for (const move of movesOf(action)) {
      const one = flow(move.account);
      if ('nft' in move) one.nfts.set(move.nft, (one.nfts.get(move.nft) ?? 0) + move.count);
      else one.jettons.set(move.jetton, (one.jettons.get(move.jetton) ?? 0n) + move.units);
    }
  }
  return [...flows]
    .map(([account, one]) => ({ account, ...one, ...withoutZeros(one) }))
    .filter(({ nanotons, fees, jettons, nfts }) => nanotons !== 0n || fees !== 0n || jettons.size + nfts.size > 0)
    .toSorted((one, other) => (one.nanotons < other.nanotons ? -1 : one.nanotons > other.nanotons ? 1 : 0));
}

function withoutZeros({ jettons, nfts }: OpenFlow): Pick<AccountFlow, 'jettons' | 'nfts'> {
  return {
    jettons: new Map([...jettons].filter(([, units]) => units !== 0n)),
    nfts: new Map([...nfts].filter(([, count]) => count !== 0)),
  };
}

function changeOf(transaction: Transaction): bigint {
  const before = balanceOf(transaction.account_state_before);
  const after = balanceOf(transaction.account_state_after);
  if (before !== undefined && after !== undefined) return after - before;
  const sent = transaction.out_msgs.reduce(
    (sum, { value, fwd_fee, ihr_fee }) => sum + big(value) + big(fwd_fee) + big(ihr_fee),
    0n,
  );
  return big(transaction.in_msg?.value) - sent - big(transaction.total_fees);
}

/** An account that does not exist has a state without a balance. */
function balanceOf(state: Transaction['account_state_before']): bigint | undefined {
  if (state === null || state === undefined) return undefined;
  if (state.balance !== null && state.balance !== undefined) return big(state.balance);
  return state.account_status === 'nonexist' ? 0n : undefined;
}

/** Fees of the transaction, and the fees of its messages. */
function feesOf({ total_fees, out_msgs }: Transaction): bigint {
  return out_msgs.reduce((sum, { fwd_fee }) => sum + big(fwd_fee), big(total_fees));
}

type Move =
  | { readonly account: string; readonly jetton: string; readonly units: bigint }
  | { readonly account: string; readonly nft: string; readonly count: 1 | -1 };

/** Movements of tokens that an action says. Each field is checked, because details differ by type. */
function movesOf({ type, details }: Action): Move[] {
  const text = (name: string): string | undefined => textOf(details[name]);
  switch (type) {
    case 'jetton_transfer':
      return jettonMoves(text('asset'), text('amount'), text('sender'), text('receiver'));
    case 'jetton_mint':
      return jettonMoves(text('asset'), text('amount'), undefined, text('receiver'));
    case 'jetton_burn':
      return jettonMoves(text('asset'), text('amount'), text('owner'), undefined);
    case 'jetton_swap':
      return [
        ...jettonMoves(text('asset_in'), amountWithin(details['dex_incoming_transfer']), text('sender'), undefined),
        ...jettonMoves(text('asset_out'), amountWithin(details['dex_outgoing_transfer']), undefined, text('sender')),
      ];
    case 'nft_transfer':
    case 'nft_purchase':
      return nftMoves(text('nft_item'), text('old_owner'), text('new_owner'));
    case 'nft_mint':
      return nftMoves(text('nft_item'), undefined, text('owner'));
    default:
      return [];
  }
}

function jettonMoves(jetton?: string, amount?: string, from?: string, to?: string): Move[] {
  if (jetton === undefined || amount === undefined || !/^\d+$/.test(amount)) return [];
  const units = BigInt(amount);
  return [
    ...(from === undefined ? [] : [{ account: from, jetton, units: -units }]),
    ...(to === undefined ? [] : [{ account: to, jetton, units }]),
  ];
}

function nftMoves(nft?: string, from?: string, to?: string): Move[] {
  if (nft === undefined) return [];
  return [
    ...(from === undefined ? [] : [{ account: from, nft, count: -1 as const }]),
    ...(to === undefined ? [] : [{ account: to, nft, count: 1 as const }]),
  ];
}

function amountWithin(transfer: unknown): string | undefined {
  if (typeof transfer !== 'object' || transfer === null) return undefined;
  return textOf((transfer as { amount?: unknown }).amount);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function big(value: string | null | undefined): bigint {
  return value === null || value === undefined || !/^-?\d+$/.test(value) ? 0n : BigInt(value);
}
