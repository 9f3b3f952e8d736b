import { callOf } from '../engine/basic-blocks.ts';
import type { TraceFragment, NewFragment } from '../engine/trace-fragment.ts';
import { body, coins, maybeAddress, uint64 } from '../engine/body.ts';
import {
  innerCall,
  internalTransferBody,
  internalTransferOpcode,
  jettonBurnOf,
  jettonBurnType,
  jettonTransferOf,
  jettonTransferType,
  notifyOpcode,
  proxyTonMasters,
} from '../operations/jettons.ts';
import { depositData, withdrawalData, type WithdrawnAsset } from '../operations/liquidity.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, built, call, first, followedBy, maybe } from '../engine/pattern.ts';
import { payToOpcode, proxyTonBody, proxyTonOpcode } from './stonfi-v2.ts';
import type { liquidityTypes } from '../operations/liquidity.ts';
import type { Family } from '../engine/family.ts';

// STON.fi, version 2: liquidity. The assets of a deposit come one by one; the pool mints shares when it has both.

const DEX = 'stonfi_v2';
/** Deposits of other exchanges have block types of their own. */
const depositType = 'dex_deposit_liquidity';
const addLiquidityOpcode = 0x50c6a654;

const provideBody = body({ queryId: uint64, user: maybeAddress, amount1: coins, amount2: coins });

/** An asset that came into a pool, null for TON, and the wallet that sent it. */
type Provided = { readonly asset: string | null; readonly amount: bigint; readonly wallet: string | null };

type PoolDeposit = {
  readonly user: string | null;
  readonly pool: string;
  /** The asset that took the longer way through the trace, then the other one where it has both. */
  readonly provided: readonly Provided[];
  readonly minted: bigint | null;
};

function depositOf({ type, data }: TraceFragment): PoolDeposit | undefined {
  return type === depositType ? (data as PoolDeposit) : undefined;
}

function depositBlock(deposit: PoolDeposit, failed: boolean): NewFragment<Type> {
  const { user, pool, provided, minted } = deposit;
  const [one, other] = provided;
  return {
    type: depositType,
    columns: {
      source: user,
      destination: pool,
      data: depositData({
        dex: DEX,
        amount1: one?.amount ?? null,
        amount2: other?.amount ?? null,
        asset1: one?.asset ?? null,
        asset2: other?.asset ?? null,
        wallet1: one?.wallet ?? null,
        wallet2: other?.wallet ?? null,
        minted,
      }),
    },
    data: deposit,
    failed,
  };
}

const transfer = as('in', built(jettonTransferType));

const provide: Matcher<Type> = {
  pattern: after(
    first(
      after(as('in', call(proxyTonOpcode)), call(notifyOpcode)),
      transfer,
      after(after(transfer, call(internalTransferOpcode)), call(notifyOpcode)),
    ),
    followedBy(
      call(0x37c096df),
      followedBy(
        call(addLiquidityOpcode),
        maybe(
          followedBy(
            call(0x06ecd527),
            first(as('minted', call(internalTransferOpcode)), as('refund', call(addLiquidityOpcode))),
          ),
        ),
      ),
    ),
  ),
  build(root, found) {
    const { message, destination: pool } = innerCall(root);
    const { user, amount1, amount2 } = provideBody(message);
    const incoming = found.one('in')!;
    const { jetton = null } = jettonTransferOf(incoming) ?? {};
    const provided = { asset: jetton, amount: amount1 > 0n ? amount1 : amount2, wallet: senderWalletOf(incoming) };
    const shares = found.one('minted');
    const minted = shares === undefined ? null : internalTransferBody(innerCall(shares).message).amount;
    const deposit = { user, pool, provided: [provided], minted };
    const failed = found.one('refund') !== undefined;
    const other = otherHalfOf(deposit, incoming);
    if (other === undefined) return depositBlock(deposit, failed);
    const half = depositOf(other)!;
    const whole = { ...deposit, provided: [provided, ...half.provided], minted: minted ?? half.minted };
    return { ...depositBlock(whole, failed), also: [other] };
  },
};

/** Proxy TON has no wallets. */
function senderWalletOf(block: TraceFragment): string | null {
  const sent = jettonTransferOf(block);
  return sent?.hasInternalTransfer === true ? sent.senderWallet : null;
}

/** The user's deposit of the other asset, sent together with this deposit. Only one of the two gets shares. */
function otherHalfOf(
  { user, pool, provided, minted }: PoolDeposit,
  { previous }: TraceFragment,
): TraceFragment | undefined {
  return previous?.next.find((block) => {
    const other = depositOf(block);
    if (other === undefined || other.provided.length > 1 || other.user !== user || other.pool !== pool) return false;
    return other.provided[0]?.asset !== provided[0]?.asset && (other.minted === null) !== (minted === null);
  });
}

const withdraw: Matcher<Type> = {
  pattern: after(
    first(
      after(as('refund', call(0x132b9a2c)), call(0x0f98e2b8)),
      after(as('burn', built(jettonBurnType)), call(0x297437cf)),
    ),
    followedBy(call(payToOpcode), built(jettonTransferType)),
  ),
  build(root, found) {
    const payouts = [root, ...root.previous!.next.filter((block) => block !== root && isPayout(block))];
    const burn = jettonBurnOf(found.one('burn'));
    const refund = found.one('refund');
    const [one = nothing, other = nothing] = payouts.map(withdrawn);
    return {
      type: 'dex_withdraw_liquidity',
      columns: {
        source: burn?.owner ?? (refund && innerCall(refund).source) ?? null,
        sourceSecondary: burn?.wallet ?? null,
        destination: innerCall(root).source,
        asset: burn?.jetton ?? null,
        data: withdrawalData({ dex: DEX, first: one, second: other, burnt: burn?.amount ?? null }),
      },
      also: payouts.flatMap((payout) => [payout, ...transfersOf(payout).flatMap((paid) => [paid, ...proxyOf(paid)])]),
    };
  },
};

const nothing: WithdrawnAsset = { amount: null, asset: null };

const transfersOf = ({ next }: TraceFragment): readonly TraceFragment[] =>
  next.filter(({ type }) => type === jettonTransferType);

/** Proxy TON, which becomes TON on its way. */
const proxyOf = ({ next }: TraceFragment): readonly TraceFragment[] =>
  next.filter((block) => callOf(block)?.opcode === proxyTonOpcode);

function isPayout(block: TraceFragment): boolean {
  return callOf(block)?.opcode === payToOpcode && transfersOf(block).length > 0;
}

/** Asset and amount of a payout. */
function withdrawn(payout: TraceFragment): WithdrawnAsset {
  const [block] = transfersOf(payout);
  if (block === undefined) return nothing;
  const { amount, jetton, sender, receiverWallet } = jettonTransferOf(block)!;
  const [proxy] = proxyOf(block);
  const isTon = proxy !== undefined || (jetton !== null && proxyTonMasters.has(jetton));
  return {
    amount: proxy === undefined ? amount : proxyTonBody(innerCall(proxy).message).amount,
    asset: isTon ? null : jetton,
    userWallet: receiverWallet,
    dexJettonWallet: senderWalletOf(block),
    dexWallet: sender,
  };
}

type Type = keyof typeof liquidityTypes;

/** Actions of liquidity at STON.fi. */
export const stonfiLiquidity = { types: {}, matchers: { provide, withdraw } } satisfies Family;
