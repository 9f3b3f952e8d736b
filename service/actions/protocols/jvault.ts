import { parseBoc } from '#service/decode/boc.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { openContractCell, takeText, walkDictionary } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import type { TraceFragment } from '../engine/trace-fragment.ts';
import {
  address,
  body,
  coins,
  fields,
  maybeAddress,
  maybeRef,
  peek,
  tryRead,
  uint,
  uint32,
  uint64,
} from '../engine/body.ts';
import type { Interfaces } from '../engine/interfaces.ts';
import type { Matcher } from '../engine/matcher.ts';
import {
  as,
  built,
  call,
  first,
  followedBy,
  followedByAll,
  maybe,
  lazy,
  type Found,
  type Pattern,
} from '../engine/pattern.ts';
import { innerCall, jettonTransferOf, jettonTransferType } from '../operations/jettons.ts';
import type { DetailFields, FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// JVault: pools in which jettons are staked through a wallet of each owner.

const requestUpdate = call(0xf5c5baa3);
const updateRewards = call(0xae9307ce);
/** Referrers are notified one after the other. Each may answer before the next notification. */
const referrer: Pattern = followedBy(
  call(0x55c35b40),
  maybe(
    first(
      lazy(() => referrer),
      followedBy(call(0x076ee4e0), maybe(lazy(() => referrer))),
    ),
  ),
);
const referrers = maybe(referrer);
const jettonTransfer = built(jettonTransferType);

const receiveBody = body({
  queryId: uint64,
  least: coins,
  most: coins,
  commission: uint(16),
  fee: coins,
  whitelist: maybeRef,
  received: coins,
});
const periodPayload = fields({ opcode: uint32, period: uint32 });

const stake: Matcher<Type> = {
  pattern: followedByAll(
    jettonTransfer,
    as(
      'received',
      followedBy(
        call(0xd68a4ac1),
        first(
          as('update', followedByAll(requestUpdate, referrers, updateRewards)),
          as('cancelled', followedBy(call(0x9eada1d9), maybe(jettonTransfer))),
        ),
      ),
    ),
    maybe(call(0x383411ea)),
  ),
  build(root, found) {
    const { sender, senderWallet, receiver, jetton, amount, forwardPayload } = jettonTransferOf(root)!;
    const received = found.one('received')!;
    const isCancelled = found.one('cancelled') !== undefined;
    const period = forwardPayload === null ? undefined : peek(forwardPayload, periodPayload)?.period;
    return {
      type: 'jvault_stake',
      columns: {
        source: sender,
        sourceSecondary: senderWallet,
        destination: receiver,
        asset: jetton,
        amount,
        data: {
          jvault_stake_data: {
            period: period === undefined ? null : BigInt(period),
            minted_stake_jettons: isCancelled ? null : mintedBy(received),
            stake_wallet: innerCall(received).destination,
          },
        },
      },
      failed: isCancelled || received.failed || found.one('update')?.failed === true,
    };
  },
};

/** New balance in the notification to the stake wallet, which is the wallet of the stake's own jetton. */
const mintedBy = (received: TraceFragment): bigint | null =>
  tryRead(() => receiveBody(innerCall(received).message).received) ?? null;

const amountBody = body({ queryId: uint64, amount: coins });

type StakeAssets = {
  readonly pool: string | null;
  readonly asset: string | null;
  readonly stakingAsset: string | null;
};

/** Data of a stake wallet and its pool: the pool, the staked jetton, and the wallet's own jetton. */
function assetsOf(wallet: string, interfaces: Interfaces): StakeAssets {
  const data = openData(interfaces.data(wallet));
  const read = data && tryRead(() => readStakeWallet(data));
  const pool = read?.pool ?? null;
  const poolData = pool === null ? undefined : openData(interfaces.data(pool));
  const lockWallet = poolData && tryRead(() => readPoolLockWallet(poolData));
  const asset = lockWallet === undefined ? undefined : interfaces.jettonWallet(lockWallet)?.jetton;
  return { pool, asset: asset ?? null, stakingAsset: read?.minter ?? null };
}

function openData(boc: Uint8Array | undefined): ContractSlice | undefined {
  if (boc === undefined) return undefined;
  return tryRead(() => {
    const table = parseBoc(Buffer.from(boc));
    return openContractCell({ table, cell: table.roots[0]! });
  });
}

const readStakeWallet = fields({ pool: maybeAddress, minter: maybeAddress });

function readPoolLockWallet(slice: ContractSlice): string {
  slice.skip(33);
  address(slice);
  address(slice);
  return address(slice);
}

/** Unstakes, at once or as a request. Without the pool's part the operation ended with the exit code of the wallet. */
function takingBack(type: Type, root: TraceFragment, found: Found, { pool, asset, stakingAsset }: StakeAssets) {
  const { message, source, destination: wallet } = innerCall(root);
  const update = found.one('update');
  return {
    type,
    columns: {
      source,
      sourceSecondary: wallet,
      destination: update === undefined ? pool : innerCall(update).destination,
      asset,
      asset2: stakingAsset,
      amount: amountBody(message).amount,
      opcode: update === undefined ? root.nodes[0]!.transaction.exitCode : null,
    },
  };
}

const unstake: Matcher<Type> = {
  pattern: followedBy(
    call(0x499a9262),
    maybe(
      as(
        'update',
        followedByAll(
          requestUpdate,
          referrers,
          maybe(built('ton_transfer')),
          as('paid', jettonTransfer),
          updateRewards,
        ),
      ),
    ),
  ),
  build(root, found, { interfaces }) {
    const assets = assetsOf(innerCall(root).destination, interfaces);
    if (assets.pool === null || assets.asset === null) return undefined;
    const paid = jettonTransferOf(found.one('paid'));
    if (paid !== undefined && paid.jetton !== assets.asset) return undefined;
    return takingBack('jvault_unstake', root, found, assets);
  },
};

const unstakeRequest: Matcher<Type> = {
  pattern: followedBy(call(0x0168d4b7), maybe(as('update', followedByAll(requestUpdate, referrers, updateRewards)))),
  build(root, found, { interfaces }) {
    const assets = assetsOf(innerCall(root).destination, interfaces);
    const update = found.one('update');
    if (update === undefined && (assets.pool === null || assets.asset === null)) return undefined;
    return {
      ...takingBack('jvault_unstake_request', root, found, assets),
      failed: update === undefined || update.failed || root.failed,
    };
  },
};

/** Rewards of one claim: a transaction sends at most 255 messages, and each reward is one. */
const REWARDS_MAX = 255;

/** Masters of the rewards that are wanted: the keys of a dictionary by address. Throws DecodeError `too_big` for more than one claim pays. */
function rewardList(slice: ContractSlice): readonly string[] {
  const list: string[] = [];
  walkDictionary(slice.maybeRefSlice(), 267, (key) => {
    if (list.length === REWARDS_MAX) {
      throw new DecodeError('too_big', 'The claim has too many rewards.', { limit: REWARDS_MAX });
    }
    list.push(takeText(slice.budget, keyAddress(key)));
  });
  return list;
}

/** `addr_std$10` without anycast: three bits, then workchain and account id. */
function keyAddress(key: Buffer): string {
  const bits = BigInt(`0x${key.toString('hex')}`) >> BigInt(key.length * 8 - 267);
  const id = (bits & ((1n << 256n) - 1n)).toString(16).padStart(64, '0').toUpperCase();
  return `${BigInt.asIntN(8, bits >> 256n)}:${id}`;
}

const claimBody = body({ queryId: uint64, jettons: rewardList });

const claim: Matcher<Type> = {
  pattern: followedBy(
    call(0x78d9f109),
    as('rewards', followedByAll(call(0x44bc1fe3), as('payout', jettonTransfer), updateRewards)),
  ),
  build(root, found) {
    const { message, source, destination: wallet } = innerCall(root);
    const { jettons } = claimBody(message);
    return {
      type: 'jvault_claim',
      columns: {
        source,
        sourceSecondary: wallet,
        destination: innerCall(found.one('rewards')!).destination,
        data: {
          jvault_claim_data: {
            claimed_jettons: jettons,
            claimed_amounts: found.all('payout').map((block) => jettonTransferOf(block)!.amount),
          },
        },
      },
      failed: root.failed,
    };
  },
};

const jvaultUnstakeDetails = {
  source: 'address source',
  stake_wallet: 'address sourceSecondary',
  pool: 'address destination',
  amount: 'amount amount',
  exit_code: 'integer opcode',
  asset: 'address asset',
  staking_asset: 'address asset2',
} satisfies DetailFields;

/** Types of JVault. */
const types = {
  jvault_stake: {
    words: ['Stake', '{@source} stakes {#amount/asset} in {@pool}[ for {period} s]'],
    since: 'v2',
    groups: ['jvault'],
    isIndivisible: false,
    details: {
      period: 'integer jvault_stake_data.period',
      minted_stake_jettons: 'amount jvault_stake_data.minted_stake_jettons',
      stake_wallet: 'address jvault_stake_data.stake_wallet',
      source: 'address source',
      source_jetton_wallet: 'address sourceSecondary',
      asset: 'address asset',
      pool: 'address destination',
      amount: 'amount amount',
    },
  },
  jvault_unstake: {
    words: ['Stake withdrawal', '{@source} withdraws[ {#amount/staking_asset}] from {@pool}'],
    since: 'v2',
    groups: ['jvault'],
    isIndivisible: false,
    details: jvaultUnstakeDetails,
  },
  jvault_claim: {
    words: ['Staking rewards', '{@source} claims rewards from {@pool}'],
    since: 'v2',
    groups: ['jvault'],
    isIndivisible: false,
    details: {
      claimed_rewards: 'claimed_reward[] @claimedRewards',
      source: 'address source',
      stake_wallet: 'address sourceSecondary',
      pool: 'address destination',
    },
  },
  jvault_unstake_request: {
    words: ['Stake withdrawal requested', '{@source} asks for the stake[ of {#amount/staking_asset}] from {@pool}'],
    since: 'v2',
    groups: ['jvault'],
    isIndivisible: false,
    details: jvaultUnstakeDetails,
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of JVault. */
export const jvault = { types, matchers: { stake, unstake, claim, unstakeRequest } } satisfies Family;
