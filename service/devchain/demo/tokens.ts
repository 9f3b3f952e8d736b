import { createHash } from 'node:crypto';

import type { Address } from '@ton/core';
import { Cell, Dictionary, beginCell } from '@ton/core';

import { JETTON_MINTER_CODE, JETTON_WALLET_CODE, NFT_COLLECTION_CODE, NFT_ITEM_CODE } from './contracts.ts';
import type { Deployed } from './wallets.ts';
import { contractOf } from './wallets.ts';

// Messages and first states of TEP-74 jettons and TEP-62 items.

const JETTON_DECIMALS = 9;

/** A minter that has issued nothing yet, with its description on the chain (TEP-64). */
export function jettonMinter(admin: Address): Deployed {
  const content = onChainContent({
    name: 'Tonplane Demo Jetton',
    symbol: 'DEMO',
    description: 'A jetton of a private network, worth nothing',
    decimals: String(JETTON_DECIMALS),
  });
  const data = beginCell().storeCoins(0).storeAddress(admin).storeRef(content);
  return contractOf(JETTON_MINTER_CODE, data.storeRef(Cell.fromBase64(JETTON_WALLET_CODE)).endCell());
}

/** Returns the address of an owner's jetton wallet. */
export function jettonWallet(minter: Address, owner: Address): Address {
  const data = beginCell().storeCoins(0).storeAddress(owner).storeAddress(minter);
  return contractOf(JETTON_WALLET_CODE, data.storeRef(Cell.fromBase64(JETTON_WALLET_CODE)).endCell()).address;
}

/** `mint` of the standard minter. */
export const MINT_OPERATION = 21;

/** To the minter, by its admin: issues jettons to a new owner. */
export function mintBody(minter: Address, to: Address, amount: bigint, operation = MINT_OPERATION): Cell {
  const transfer = beginCell().storeUint(0x178d_4519, 32).storeUint(0, 64).storeCoins(amount);
  transfer.storeAddress(minter).storeAddress(to).storeCoins(0).storeBit(false);
  const body = beginCell().storeUint(operation, 32).storeUint(0, 64).storeAddress(to);
  return body.storeCoins(50_000_000n).storeRef(transfer).endCell();
}

/** To the owner's jetton wallet: sends jettons on, with a comment. */
export function jettonTransferBody(to: Address, excesses: Address, amount: bigint, comment: string): Cell {
  const body = beginCell().storeUint(0x0f8a_7ea5, 32).storeUint(1, 64).storeCoins(amount);
  body.storeAddress(to).storeAddress(excesses).storeBit(false).storeCoins(1n);
  return body.storeMaybeRef(commentBody(comment)).endCell();
}

/** Message of an owner to the own jetton wallet: burns jettons. */
export function jettonBurnBody(amount: bigint, excesses: Address): Cell {
  const body = beginCell().storeUint(0x595f_07bc, 32).storeUint(2, 64).storeCoins(amount);
  return body.storeAddress(excesses).storeBit(false).endCell();
}

const COLLECTION_URL = 'https://demo.tonplane.invalid/nft/';

/** Returns a collection without items. A twentieth of each sale goes to its owner. */
export function nftCollection(owner: Address): Deployed {
  const whole = beginCell().storeUint(1, 8).storeStringTail(`${COLLECTION_URL}collection.json`);
  const content = beginCell().storeRef(whole).storeRef(beginCell().storeStringTail(COLLECTION_URL));
  const royalty = beginCell().storeUint(5, 16).storeUint(100, 16).storeAddress(owner);
  const data = beginCell().storeAddress(owner).storeUint(0, 64).storeRef(content);
  return contractOf(NFT_COLLECTION_CODE, data.storeRef(Cell.fromBase64(NFT_ITEM_CODE)).storeRef(royalty).endCell());
}

export function nftItem(collection: Address, index: number): Address {
  return contractOf(NFT_ITEM_CODE, beginCell().storeUint(index, 64).storeAddress(collection).endCell()).address;
}

/** To the collection, by its owner: makes the next item. */
export function nftMintBody(index: number, owner: Address): Cell {
  const content = beginCell().storeStringTail(`${index}.json`);
  const item = beginCell().storeAddress(owner).storeRef(content);
  const body = beginCell().storeUint(1, 32).storeUint(0, 64).storeUint(index, 64);
  return body.storeCoins(50_000_000n).storeRef(item).endCell();
}

/**
 * Message of an owner to an item: transfers it.
 * @param forward nanotons that notify the new owner; 0 sends no notification
 */
export function nftTransferBody(to: Address, excesses: Address, forward = 1n): Cell {
  const body = beginCell().storeUint(0x5fcc_3d14, 32).storeUint(3, 64).storeAddress(to).storeAddress(excesses);
  return body.storeBit(false).storeCoins(forward).storeBit(false).endCell();
}

export function commentBody(text: string): Cell {
  return beginCell().storeUint(0, 32).storeStringTail(text).endCell();
}

/** TEP-64: `0x00` and a dictionary from the hash of a name to its value. */
function onChainContent(fields: Readonly<Record<string, string>>): Cell {
  const values = Dictionary.empty(Dictionary.Keys.Buffer(32), Dictionary.Values.Cell());
  for (const [name, value] of Object.entries(fields)) {
    const key = createHash('sha256').update(name).digest();
    values.set(key, beginCell().storeUint(0, 8).storeStringTail(value).endCell());
  }
  return beginCell().storeUint(0, 8).storeDict(values).endCell();
}
