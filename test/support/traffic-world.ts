import { createHash } from 'node:crypto';

import { Address, beginCell, Cell, internal, type MessageRelaxed } from '@ton/core';

import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { jettonMinter, jettonWallet, nftCollection, nftItem, nftTransferBody } from '#service/devchain/demo/tokens.ts';
import { JETTON_WALLET_CODE, NFT_ITEM_CODE } from '#service/devchain/demo/contracts.ts';
import type { GenesisAccount } from '#service/devchain/zerostate/zerostate.ts';
import { answeringCode, answeringData, scriptedCode, scriptedData, type Response } from './scripted-contract.ts';
import { testWallet, transfer, type TestWallet } from './wallet.ts';

/** A wallet and its jettons. */
export type TrafficOwner = { readonly wallet: TestWallet; readonly jettons: Address };

/** A sale contract that sells one item again and again. It gives the item to the next of its buyers. */
export type TrafficSale = {
  readonly address: Address;
  readonly item: Address;
  /** Ordinals of owners. */
  readonly buyers: readonly number[];
};

/** Contracts of a private network from its beginning, between which messages go. */
export type TrafficWorld = {
  readonly genesis: readonly GenesisAccount[];
  readonly owners: readonly TrafficOwner[];
  readonly items: readonly Address[];
  readonly sales: readonly TrafficSale[];
  /** First contracts of pairs in two shards that send a message to and fro for more than 32 blocks. */
  readonly relays: readonly Address[];
  /** A pair that sends a message to and fro without end. */
  readonly endless: readonly [Address, Address];
  /** Accounts without a contract. */
  readonly strangers: readonly Address[];
  /** All of them, as `workchain:HEX`. */
  readonly addresses: readonly string[];
};

export type TrafficWorldSize = {
  readonly owners: number;
  readonly items: number;
  readonly sales: number;
  readonly relays: number;
};

const TON = 1_000_000_000n;

export const SALE_PRICE = 7n * TON;

/** Nanotons that a contract has at first. */
const BALANCE = 1_000_000n * TON;

const SALE_ROUNDS = 40;

/** Answers of each contract of a relay: together more blocks than a trace may be open without portions. */
const RELAY_ANSWERS = 20;

const STRANGERS = 8;

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @param half 0 or 1: half of the basechain */
function accountIn(half: number, name: string): Address {
  const id = hashOf(name);
  id[0] = half * 0x80 + (id[0]! & 0x7f);
  return new Address(0, id);
}

/** Raw form of an account, as v3 shows it. */
export const rawOf = (account: Address): string => account.toRawString().toUpperCase();

function genesisOf(account: Address, { code, data }: { readonly code: Cell; readonly data: Cell }): GenesisAccount {
  const store = createCellStore();
  const [codeCell, dataCell] = [code, data].map((cell) => {
    const boc = parseBoc(cell.toBoc());
    return store.import(boc, boc.roots[0]!);
  }) as [number, number];
  return { id: account.hash, balance: BALANCE, store, code: codeCell, data: dataCell };
}

/** Makes the contracts. The same size gives the same ones. */
export function createTrafficWorld({ owners, items, sales, relays }: TrafficWorldSize): TrafficWorld {
  const genesis: GenesisAccount[] = [];
  const add = (account: Address, code: Cell, data: Cell): Address => {
    genesis.push(genesisOf(account, { code, data }));
    return account;
  };
  const wallets = Array.from({ length: owners }, (_, at) => testWallet(hashOf(`owner ${at}`)));
  for (const { address, init } of wallets) add(address, init.code, init.data);
  const admin = wallets[0]!.address;
  const minter = jettonMinter(admin);
  add(minter.address, minter.init.code!, minter.init.data!);
  const walletCode = Cell.fromBase64(JETTON_WALLET_CODE);
  const owned = wallets.map((wallet): TrafficOwner => {
    const data = beginCell().storeCoins(BALANCE).storeAddress(wallet.address).storeAddress(minter.address);
    const jettons = jettonWallet(minter.address, wallet.address);
    return { wallet, jettons: add(jettons, walletCode, data.storeRef(walletCode).endCell()) };
  });
  const collection = nftCollection(admin);
  add(collection.address, collection.init.code!, collection.init.data!);
  const addItem = (index: number, owner: Address): Address => {
    const content = beginCell().storeStringTail(`${index}.json`).endCell();
    const data = beginCell().storeUint(index, 64).storeAddress(collection.address).storeAddress(owner);
    const address = nftItem(collection.address, index);
    return add(address, Cell.fromBase64(NFT_ITEM_CODE), data.storeRef(content).endCell());
  };
  const free = Array.from({ length: items }, (_, at) =>
    addItem(at, wallets[firstOwnerOf({ owners: wallets }, at)]!.address),
  );
  const sold = Array.from({ length: sales }, (_, at): TrafficSale => {
    const address = accountIn(at % 2, `sale ${at}`);
    const item = addItem(items + at, address);
    const buyers = Array.from({ length: SALE_ROUNDS }, (_round, round) => 1 + ((at * 7 + round * 3) % (owners - 1)));
    const parties = { item, seller: admin, buyers: buyers.map((buyer) => wallets[buyer]!.address) };
    add(address, scriptedCode(saleMethods(parties)), scriptedData(saleAnswers(parties)));
    return { address, item, buyers };
  });
  const relayed = Array.from({ length: relays }, (_, at) => {
    const [one, other] = [accountIn(0, `relay ${at}`), accountIn(1, `relay ${at}`)] as const;
    add(one, scriptedCode(), scriptedData(Array.from({ length: RELAY_ANSWERS }, () => [bounceless(other)])));
    add(other, scriptedCode(), scriptedData(Array.from({ length: RELAY_ANSWERS }, () => [bounceless(one)])));
    return [one, other] as const;
  });
  const endless = [accountIn(0, 'endless'), accountIn(1, 'endless')] as const;
  endless.forEach((one, at) => add(one, answeringCode, answeringData([bounceless(endless[1 - at]!)])));
  const strangers = Array.from({ length: STRANGERS }, (_, at) => accountIn(at % 2, `stranger ${at}`));
  return {
    genesis,
    owners: owned,
    items: free,
    sales: sold,
    relays: relayed.map(([one]) => one),
    endless,
    strangers,
    addresses: [...genesis.map(({ id }) => new Address(0, id)), ...strangers].map(rawOf),
  };
}

/** Ordinal of the owner that an item has at first. The first owner has none. */
export function firstOwnerOf({ owners }: { readonly owners: readonly unknown[] }, item: number): number {
  return 1 + (item % (owners.length - 1));
}

/** A message that goes to and fro. */
export function bounceless(to: Address): MessageRelaxed {
  return transfer(to, TON / 20n);
}

type Parties = { readonly item: Address; readonly seller: Address; readonly buyers: readonly Address[] };

/** Answers of a sale to its payments: the item for the next buyer, and the price for the seller. */
function saleAnswers({ item, seller, buyers }: Parties): readonly Response[] {
  return buyers.map((buyer) => [
    internal({ to: item, value: TON / 2n, body: nftTransferBody(buyer, buyer, TON / 100n) }),
    transfer(seller, SALE_PRICE - TON),
  ]);
}

/** Methods of a sale of Getgems, version 4. */
function saleMethods({ item, seller }: Parties): NonNullable<Parameters<typeof scriptedCode>[0]> {
  const gives = [0n, 1_700_000_000n, seller, item, seller, SALE_PRICE, seller, 5000n, seller, 3000n, 0n, 0n];
  return { get_fix_price_data_v4: { gives: [...gives, beginCell().endCell()] } };
}
