import { callOf, tonTransferOf, type TonTransfer } from '../engine/basic-blocks.ts';
import type { TraceFragment } from '../engine/trace-fragment.ts';
import { body, coins, maybeAddress, uint64 } from '../engine/body.ts';
import type { ActionData } from '../engine/columns.ts';
import type { Matcher } from '../engine/matcher.ts';
import {
  after,
  as,
  built,
  call,
  first,
  followedBy,
  isExcess,
  maybe,
  withoutExcesses,
  type Context,
} from '../engine/pattern.ts';
import {
  burnBody,
  burnNotificationOpcode,
  burnOpcode,
  innerCall,
  internalTransferBody,
  internalTransferOpcode,
  jettonMintOf,
  jettonMintType,
  jettonTransferOf,
  jettonTransferType,
  notifyOpcode,
  transferOpcode,
} from '../operations/jettons.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Staking: liquid staking by pools, nominator pools, staked dollars.

const ONE_TON = 1_000_000_000n;

type Staked = {
  readonly provider: 'liquid_staking' | 'nominator' | 'ethena';
  readonly nft?: string | null;
  readonly burnt?: bigint | null;
  readonly minted?: bigint | null;
};

function stakingData({ provider, nft = null, burnt = null, minted = null }: Staked): ActionData {
  return { staking_data: { provider, ts_nft: nft, tokens_burnt: burnt, tokens_minted: minted } };
}

const nftBurnOpcode = 0xf127fe4e;
const nftBurnNotificationOpcode = 0xed58b0b2;
const distributedOpcode = 0xdb3b8abd;
const roundEndOpcode = 0x1140a64f;
const withdrawType = 'tonstakers_withdraw';

const nftBurnNotificationBody = body({ queryId: uint64, amount: coins, owner: maybeAddress });

/** The pool of a payout: where the round's end came from, however many payouts are in between. */
function poolBefore(block: TraceFragment): string | null {
  for (let at = block.previous; at !== undefined; at = at.previous) {
    if (at.type === withdrawType) return (at.data as { readonly pool: string | null }).pool;
    const found = callOf(at);
    if (found?.opcode === roundEndOpcode) return found.message.source;
    if (![nftBurnNotificationOpcode, nftBurnOpcode, distributedOpcode].includes(found?.opcode ?? -1)) return null;
  }
  return null;
}

/** A bill of an earlier request is paid. */
const billPaid: Matcher<Type> = {
  pattern: after(
    after(as('burn', call(nftBurnOpcode)), as('notification', call(nftBurnNotificationOpcode))),
    call(distributedOpcode),
  ),
  build(root, found) {
    const notification = innerCall(found.one('notification')!);
    const { owner, amount } = nftBurnNotificationBody(notification.message);
    const pool = poolBefore(found.one('burn')!);
    return {
      type: withdrawType,
      actionType: 'stake_withdrawal',
      columns: {
        source: owner,
        destination: pool,
        amount: innerCall(root).message.value,
        data: stakingData({ provider: 'liquid_staking', nft: notification.source, burnt: amount }),
      },
      // The payment counts, even if the receiver failed.
      data: { pool },
    };
  },
};

const deposit: Matcher<Type> = {
  // A pool that mints nothing has taken no deposit.
  pattern: followedBy(
    call(0x47d54391),
    followedBy(call(0x1674b0a0), as('minted', followedBy(call(internalTransferOpcode), maybe(call(notifyOpcode))))),
  ),
  build(root, found) {
    const { message, source, destination } = innerCall(root);
    const minted = innerCall(found.one('minted')!);
    return {
      type: 'tonstakers_deposit',
      actionType: 'stake_deposit',
      columns: {
        source,
        destination,
        amount: (message.value ?? 0n) - ONE_TON,
        asset: minted.source,
        data: stakingData({ provider: 'liquid_staking', minted: internalTransferBody(minted.message).amount }),
      },
      failed: root.failed,
    };
  },
};

const BILL_INIT = 0x132f9a45;

/** The bill that a delayed withdrawal mints. */
function billAfter({ next }: TraceFragment): string | null {
  const bill = next.find(({ type }) => type === 'nft_mint') ?? next.find((one) => callOf(one)?.opcode === BILL_INIT);
  return bill?.columns.destination ?? null;
}

const withdrawal: Matcher<Type> = {
  pattern: followedBy(
    call(burnOpcode),
    followedBy(
      call(burnNotificationOpcode),
      as(
        'request',
        followedBy(call(0x319b0cdc), first(as('immediate', call(0x0a77535c)), as('delayed', call(0x1674b0a0)))),
      ),
    ),
  ),
  build(root, found) {
    const { message, source, destination: wallet } = innerCall(root);
    const { amount: burnt } = burnBody(message);
    const request = innerCall(found.one('request')!);
    const { source: asset, destination: pool } = request;
    const immediate = found.one('immediate');
    const shared = { source, destination: pool, asset };
    if (immediate !== undefined) {
      const paid = innerCall(immediate).message.value ?? 0n;
      return {
        type: withdrawType,
        actionType: 'stake_withdrawal',
        columns: {
          ...shared,
          amount: paid - (request.message.value ?? 0n),
          data: stakingData({ provider: 'liquid_staking', burnt }),
        },
        data: { pool },
        failed: root.failed,
      };
    }
    const bill = billAfter(found.one('delayed')!);
    return {
      type: 'tonstakers_withdraw_request',
      actionType: 'stake_withdrawal_request',
      columns: {
        ...shared,
        sourceSecondary: wallet,
        amount: burnt,
        data: stakingData({ provider: 'liquid_staking', nft: bill }),
      },
      failed: root.failed || bill === null,
    };
  },
};

function toNominatorPool(comment: string) {
  return (block: TraceFragment, { interfaces }: Context): boolean => {
    const found = tonTransferOf(block);
    return found?.comment === comment && interfaces.isNominatorPool(found.message.destination ?? '');
  };
}

const nominatorDeposit: Matcher<Type> = {
  pattern: built('ton_transfer', toNominatorPool('d')),
  build(root) {
    const { source, destination, value } = tonTransferOf(root)!.message;
    return {
      type: 'nominator_pool_deposit',
      actionType: 'stake_deposit',
      columns: { source, destination, amount: value, data: stakingData({ provider: 'nominator' }) },
      failed: root.failed,
      also: root.next.filter(isExcess),
    };
  },
};

const nominatorRequestType = 'nominator_pool_withdraw_request';

const nominatorWithdrawal: Matcher<Type> = {
  pattern: built('ton_transfer', toNominatorPool('w')),
  build(root) {
    const { source, destination, value } = tonTransferOf(root)!.message;
    const transfers = root.next.filter((next) => tonTransferOf(next)?.message.destination === source);
    // A pool returns what came with the order, and may pay besides.
    const returned = transfers.length > 2 ? [] : transfers;
    const payout = payoutOf(returned, value ?? 0n);
    return {
      type: nominatorRequestType,
      actionType: payout === undefined ? 'stake_withdrawal_request' : 'stake_withdrawal',
      columns: {
        source,
        destination,
        amount: payout?.message.value ?? null,
        data: stakingData({ provider: 'nominator' }),
      },
      failed: root.failed,
      also: [...returned, ...root.next.filter(isExcess)],
    };
  },
};

/** A payment that returned more than was sent, or the earlier of two payments. */
function payoutOf(returned: readonly TraceFragment[], sent: bigint): TonTransfer | undefined {
  const [one, other] = returned.map((block) => tonTransferOf(block)!);
  if (other !== undefined) return one;
  return (one?.message.value ?? 0n) > sent ? one : undefined;
}

/** Transfer out of a pool after an order to pay an earlier request. */
const nominatorPayout: Matcher<Type> = {
  pattern: built('ton_transfer', (block, { interfaces }) => {
    const order = block.previous && callOf(block.previous);
    return order?.opcode === 2 && interfaces.isNominatorPool(order.message.destination ?? '');
  }),
  build(root) {
    const { source, destination, value } = tonTransferOf(root)!.message;
    return {
      type: nominatorRequestType,
      actionType: 'stake_withdrawal',
      columns: {
        source: destination,
        destination: source,
        amount: value,
        data: stakingData({ provider: 'nominator' }),
      },
      // The payment counts, even if the receiver failed.
    };
  },
};

const dollar = '0:086FA2A675F74347B08DD4606A549B8FDB98829CB282BC1949D3B12FBAED9DCC';
const stakedDollar = '0:D0E545323C7ACB7102653C073377F7E3C67F122EB94D430A250739F109D4A57D';

const dollarDeposit: Matcher<Type> = {
  pattern: followedBy(
    built(jettonTransferType, (block) => jettonTransferOf(block)!.jetton === dollar),
    as('mint', withoutExcesses(built(jettonMintType, (block) => jettonMintOf(block)!.jetton === stakedDollar))),
  ),
  build(root, found) {
    const { sender, senderWallet, receiver, amount, jetton } = jettonTransferOf(root)!;
    const mint = jettonMintOf(found.one('mint'))!;
    return {
      type: 'ethena_deposit',
      actionType: 'stake_deposit',
      columns: {
        source: sender,
        sourceSecondary: senderWallet,
        destination: receiver,
        asset: stakedDollar,
        asset2: jetton,
        amount,
        data: stakingData({ provider: 'ethena', minted: mint.amount }),
      },
      failed: root.failed || found.one('mint')!.failed,
    };
  },
};

/** Returns staked dollars in exchange for locked dollars. */
const dollarWithdrawal: Matcher<Type> = {
  pattern: followedBy(
    call(transferOpcode),
    as(
      'internal',
      followedBy(
        call(internalTransferOpcode),
        followedBy(call(notifyOpcode), as('mint', followedBy(call(0x642b7d07), as('locked', call(0xb2583ed5))))),
      ),
    ),
  ),
  build(root, found, { interfaces }) {
    const { source, destination: wallet } = innerCall(root);
    const internal = innerCall(found.one('internal')!);
    const locked = innerCall(found.one('locked')!);
    const own = interfaces.jettonWallet(wallet);
    const timed = interfaces.jettonWallet(locked.destination);
    if (own?.owner !== source || timed?.owner !== source) return undefined;
    // Both masters take part: one takes the staked dollars, the other sends the locked dollars.
    if (own.jetton !== internal.destination || timed.jetton !== locked.source) return undefined;
    return {
      type: 'ethena_withdrawal_request',
      actionType: 'stake_withdrawal_request',
      columns: {
        source,
        sourceSecondary: wallet,
        destination: innerCall(found.one('mint')!).source,
        asset: own.jetton,
        amount: internalTransferBody(internal.message).amount,
        data: stakingData({ provider: 'ethena', minted: internalTransferBody(locked.message).amount }),
      },
      failed: root.failed,
    };
  },
};

/** Types of staking. */
const types = {
  stake_deposit: {
    words: [
      'Stake',
      '{@stake_holder} stakes {#amount/source_asset} in {@pool}[ for {#tokens_minted/asset}][ ({provider})]',
    ],
    since: 'v1',
    groups: ['staking'],
    isIndivisible: true,
    details: {
      provider: 'text @stakingProvider',
      stake_holder: 'address source',
      pool: 'address destination',
      amount: 'amount amount',
      tokens_minted: 'amount staking_data.tokens_minted',
      asset: 'address asset',
      source_asset: 'address? asset2 if staking_data.provider=ethena',
    },
  },
  stake_withdrawal: {
    words: [
      'Stake withdrawal',
      '{@stake_holder} withdraws[ {$amount}][ from {@pool}][ for {#tokens_burnt/asset}][ ({provider})]',
    ],
    since: 'v1',
    groups: ['staking'],
    isIndivisible: true,
    details: {
      provider: 'text @stakingProvider',
      stake_holder: 'address source',
      pool: 'address destination',
      amount: 'amount amount',
      payout_nft: 'address staking_data.ts_nft',
      tokens_burnt: 'amount staking_data.tokens_burnt',
      asset: 'address asset',
    },
  },
  stake_withdrawal_request: {
    words: [
      'Stake withdrawal requested',
      '{@stake_holder} asks for the stake[ of {#tokens_burnt/asset}][ from {@pool}][ ({provider})]',
    ],
    since: 'v1',
    groups: ['staking'],
    isIndivisible: true,
    details: {
      provider: 'text @stakingProvider',
      stake_holder: 'address source',
      pool: 'address destination',
      payout_nft: 'address staking_data.ts_nft',
      asset: 'address asset',
      tokens_burnt: 'amount amount if staking_data.provider=liquid_staking|tonstakers',
      tokens_minted: 'amount? staking_data.tokens_minted if staking_data.provider=ethena',
    },
  },
  tonstakers_deposit: { isHelper: true, isIndivisible: true },
  tonstakers_withdraw: { isHelper: true, isIndivisible: true },
  tonstakers_withdraw_request: { isHelper: true, isIndivisible: true },
  nominator_pool_deposit: { isHelper: true, isIndivisible: true },
  nominator_pool_withdraw_request: { isHelper: true, isIndivisible: true },
  ethena_deposit: { isHelper: true, isIndivisible: true },
  ethena_withdrawal_request: { isHelper: true, isIndivisible: true },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of staking. */
export const staking = {
  types,
  matchers: {
    billPaid,
    deposit,
    withdrawal,
    nominatorDeposit,
    nominatorWithdrawal,
    nominatorPayout,
    dollarWithdrawal,
    dollarDeposit,
  },
} satisfies Family;
