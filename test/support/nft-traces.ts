import { Address, beginCell, Dictionary, type Cell } from '@ton/core';

import { classify } from '#service/actions/classify.ts';
import type { Interfaces, NftAuctionInfo, NftItemInfo, NftSaleInfo } from '#service/actions/engine/interfaces.ts';
import type { Action } from '#service/actions/engine/action-rows.ts';

import { accountOf, eventTrace, knownWallets, type Step } from './event-traces.ts';

/** Accounts of traces about items. */
export const [owner, buyer, item, market, contract, items] = [1, 2, 3, 4, 5, 6].map(accountOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

type Known = {
  readonly nft?: Partial<NftItemInfo>;
  readonly sale?: Partial<NftSaleInfo>;
  readonly auction?: Partial<NftAuctionInfo>;
};

const anItem: NftItemInfo = { index: 7n, collection: items, owner, content: null, codeHash: null };
const seller = { marketplace: market, nft: item, nftOwner: owner, codeHash: null };

/** What is known of `item`, and of `contract` when it sells the item. */
export function knownItem({ nft, sale, auction }: Known): Interfaces {
  return {
    ...knownWallets({}),
    nftItem: (account) => (account === item ? { ...anItem, ...nft } : undefined),
    nftSale: (account) => (sale && account === contract ? { ...seller, fullPrice: 10n, ...sale } : undefined),
    nftAuction: (account) => (auction && account === contract ? { ...seller, lastBid: 10n, ...auction } : undefined),
  };
}

/** Actions of a trace that `sender` began, without those of plain messages. */
export function itemActions(sender: string, steps: readonly Step[], known: Known): readonly Action[] {
  const { actions } = classify(eventTrace(sender, steps), knownItem(known));
  return actions.filter(({ type }) => !['call_contract', 'ton_transfer', 'contract_deploy'].includes(type));
}

/** An operation with a query id of 9. */
export const operation = (opcode: number) => beginCell().storeUint(opcode, 32).storeUint(9, 64);

/** The item is told to go to a new owner, who then sends on. */
export function itemTransfer(to: string, sends: readonly Step[] = []): Step {
  const body = operation(0x5fcc3d14)
    .storeAddress(Address.parse(to))
    .storeAddress(null)
    .storeBit(false)
    .storeCoins(1)
    .storeBit(false)
    .endCell();
  const assigned = operation(0x05138d91).storeAddress(Address.parse(owner)).storeBit(false).endCell();
  return { to: item, body, sends: [{ to, body: assigned, sends }] };
}

/** `StateInit` of a contract with this data. */
export const stateOf = (data: Cell): Cell =>
  beginCell()
    .storeUint(0, 2)
    .storeMaybeRef(beginCell().endCell())
    .storeMaybeRef(data)
    .storeDict(Dictionary.empty())
    .endCell();
