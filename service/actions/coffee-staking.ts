import { address, body, coins, inRef, uint64, fields } from './body.ts';
import type { Matcher } from './matcher.ts';
import { as, built, call, followedBy, followedByAll, maybe } from './pattern.ts';
import { innerCall, jettonTransferOf, jettonTransferType } from './jettons.ts';

// Coffee: jettons staked for a time, each stake an item.

const depositOpcode = 0xf9471134;
const withdrawOpcode = 0xcb03bfaf;
const claimOpcode = 0xb30c7310;

const jettonTransfer = as('transfer', built(jettonTransferType));

const deposit: Matcher = {
  pattern: followedBy(
    built(jettonTransferType),
    as('pool', followedByAll(call(depositOpcode), maybe(call(depositOpcode)), as('mint', built('nft_mint')))),
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

const positionBody = body({
  queryId: uint64,
  item: uint64,
  owner: address,
  points: coins,
  jettons: inRef(fields({ wallet: address, amount: coins })),
});

/** Three messages of one opcode: to the item, from it to the pool, and on to what holds the jettons. */
const withdraw: Matcher = {
  pattern: followedBy(
    call(withdrawOpcode),
    as(
      'position',
      followedByAll(
        call(withdrawOpcode),
        followedByAll(call(withdrawOpcode), jettonTransfer),
        maybe(call(withdrawOpcode)),
      ),
    ),
  ),
  build(root, found) {
    const { source, destination } = innerCall(root);
    const { item, points } = positionBody(innerCall(found.one('position')!).message);
    const { receiverWallet, senderWallet, jetton, amount } = jettonTransferOf(found.one('transfer'))!;
    return {
      type: 'coffee_staking_withdraw',
      columns: {
        source,
        sourceSecondary: receiverWallet,
        destination,
        destinationSecondary: senderWallet,
        asset: jetton,
        amount,
        data: { coffee_staking_withdraw_data: { nft_address: destination, nft_index: item, points } },
      },
      failed: root.failed,
    };
  },
};

const claim: Matcher = {
  pattern: followedByAll(call(claimOpcode), jettonTransfer, maybe(call(claimOpcode))),
  build(root, found) {
    const { receiver, receiverWallet, senderWallet, jetton, amount } = jettonTransferOf(found.one('transfer'))!;
    return {
      type: 'coffee_staking_claim_rewards',
      columns: {
        source: innerCall(root).destination,
        sourceSecondary: senderWallet,
        destination: receiver,
        destinationSecondary: receiverWallet,
        asset: jetton,
        amount,
      },
      failed: root.failed,
    };
  },
};

/** By their place in the order of all matchers (indexing sheet 9.4). */
export const coffeeStakingMatchers: Readonly<Record<number, Matcher>> = { 73: deposit, 74: withdraw, 75: claim };
