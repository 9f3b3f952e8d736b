import { body, coins, maybeAddress, uint64 } from '../engine/body.ts';
import type { Matcher } from '../engine/matcher.ts';
import { as, built, call, followedBy, followedByAll, maybe, withoutExcesses, type Pattern } from '../engine/pattern.ts';
import { innerCall, jettonTransferOf, jettonTransferType } from '../operations/jettons.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Coffee: jettons staked for a time, each stake an item.

const depositOpcode = 0xf9471134;
const withdrawOpcode = 0xcb03bfaf;
const claimOpcode = 0xb30c7310;

/** A message of these operations: what it leaves over of its gas is no part of them. */
const step = (opcode: number): Pattern => withoutExcesses(call(opcode));
const jettonTransfer = withoutExcesses(as('transfer', built(jettonTransferType)));

const deposit: Matcher<Type> = {
  pattern: followedBy(
    built(jettonTransferType),
    as(
      'pool',
      followedByAll(step(depositOpcode), maybe(step(depositOpcode)), withoutExcesses(as('mint', built('nft_mint')))),
    ),
  ),
  build(root, found) {
    const { sender, senderWallet, receiverWallet, jetton, amount } = jettonTransferOf(root)!;
    const { destination = null, data } = found.one('mint')!.columns;
    const { nft_item_index: index = null } = (data?.['nft_mint_data'] ?? {}) as { readonly nft_item_index?: bigint };
    return {
      type: 'coffee_staking_deposit',
      columns: {
        source: sender,
        sourceSecondary: senderWallet,
        destination: innerCall(found.one('pool')!).destination,
        destinationSecondary: receiverWallet,
        asset: jetton,
        amount,
        data: { coffee_staking_deposit_data: { minted_item_address: destination, minted_item_index: index } },
      },
      failed: root.failed,
    };
  },
};

const positionBody = body({ queryId: uint64, item: uint64, owner: maybeAddress, points: coins });
const orderBody = body({ queryId: uint64, wallet: maybeAddress, amount: coins });

/** Three messages of one opcode: to the item, from it to the pool, and on to what holds the jettons. */
const withdraw: Matcher<Type> = {
  pattern: followedBy(
    call(withdrawOpcode),
    as(
      'position',
      followedByAll(
        step(withdrawOpcode),
        as('order', followedByAll(step(withdrawOpcode), jettonTransfer)),
        maybe(step(withdrawOpcode)),
      ),
    ),
  ),
  build(root, found) {
    const { destination } = innerCall(root);
    const { item, owner, points } = positionBody(innerCall(found.one('position')!).message);
    const { wallet, amount } = orderBody(innerCall(found.one('order')!).message);
    const { receiverWallet, jetton } = jettonTransferOf(found.one('transfer'))!;
    return {
      type: 'coffee_staking_withdraw',
      columns: {
        source: owner,
        sourceSecondary: receiverWallet,
        destination,
        destinationSecondary: wallet,
        asset: jetton,
        amount,
        data: { coffee_staking_withdraw_data: { nft_address: destination, nft_index: item, points } },
      },
      failed: root.failed,
    };
  },
};

const claimBody = body({ queryId: uint64, wallet: maybeAddress, amount: coins, receiver: maybeAddress });

const claim: Matcher<Type> = {
  pattern: followedByAll(call(claimOpcode), jettonTransfer, maybe(step(claimOpcode))),
  build(root, found) {
    const { message, destination: pool } = innerCall(root);
    const { wallet, amount, receiver } = claimBody(message);
    const { receiverWallet, jetton } = jettonTransferOf(found.one('transfer'))!;
    return {
      type: 'coffee_staking_claim_rewards',
      columns: {
        source: pool,
        sourceSecondary: wallet,
        destination: receiver,
        destinationSecondary: receiverWallet,
        asset: jetton,
        amount,
      },
      failed: root.failed,
    };
  },
};

/** Types of staking at Coffee. */
const types = {
  coffee_staking_deposit: {
    words: ['Stake', '{@source} stakes {#amount/asset} in {@pool}[ for {!minted_item_address}]'],
    since: 'v2',
    groups: ['coffee'],
    isIndivisible: false,
    details: {
      source: 'address source',
      source_jetton_wallet: 'address sourceSecondary',
      pool: 'address destination',
      pool_jetton_wallet: 'address destinationSecondary',
      asset: 'address asset',
      amount: 'amount amount',
      minted_item_address: 'address coffee_staking_deposit_data.minted_item_address',
      minted_item_index: 'amount coffee_staking_deposit_data.minted_item_index',
    },
  },
  coffee_staking_withdraw: {
    words: ['Stake withdrawal', '{@source} withdraws {#amount/asset} from {@pool}[ for {!nft_address}]'],
    since: 'v2',
    groups: ['coffee'],
    isIndivisible: false,
    details: {
      source: 'address source',
      source_jetton_wallet: 'address sourceSecondary',
      pool: 'address destination',
      pool_jetton_wallet: 'address destinationSecondary',
      asset: 'address asset',
      amount: 'amount amount',
      nft_address: 'address coffee_staking_withdraw_data.nft_address',
      nft_index: 'amount coffee_staking_withdraw_data.nft_index',
      points: 'amount coffee_staking_withdraw_data.points',
    },
  },
  coffee_staking_claim_rewards: {
    words: ['Staking rewards', '{@recipient} claims {#amount/asset} from {@pool}'],
    since: 'v2',
    groups: ['coffee'],
    isIndivisible: false,
    details: {
      pool: 'address source',
      pool_jetton_wallet: 'address sourceSecondary',
      recipient: 'address destination',
      recipient_jetton_wallet: 'address destinationSecondary',
      asset: 'address asset',
      amount: 'amount amount',
    },
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of staking at Coffee. */
export const coffeeStaking = { types, matchers: { deposit, withdraw, claim } } satisfies Family;
