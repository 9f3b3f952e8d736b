import { createHash, sign } from 'node:crypto';

import type { Address, MessageRelaxed, StateInit } from '@ton/core';
import {
  Cell,
  SendMode,
  beginCell,
  contractAddress,
  external,
  storeMessage,
  storeMessageRelaxed,
  storeOutList,
} from '@ton/core';

import { validatorKey } from '../chain/signing.ts';
import { WALLET_CODES } from './wallet-codes.ts';

export type WalletVersion = keyof typeof WALLET_CODES;

/** A wallet of the demonstration. Like all keys of a private network, its key is public. */
export type DemoWallet = {
  readonly version: WalletVersion;
  readonly address: Address;
  readonly publicKey: Buffer;
  /** Returns the bag of an external message that sends messages on. The first external message of a wallet includes its code. */
  send(messages: readonly MessageRelaxed[]): Buffer;
};

/** Distinguishes wallets with the same key and version. */
const WALLET_ID = 698_983_191;

/** The same of v5: of workchain 0, subwallet 0 and the network's id (`context_id xor global_id`). */
const V5_CONTEXT = 0x8000_0000;

/** The wallets' messages never expire. */
const NEVER = 0xffff_ffff;
const EXTERNAL_SIGNED = 0x7369_676e;

/** Fees are paid separately from the amount. A message that cannot be sent does not stop the others. */
const SEND_MODE = SendMode.PAY_GAS_SEPARATELY + SendMode.IGNORE_ERRORS;

/** @param globalId of the network, signed */
export function createDemoWallet(version: WalletVersion, globalId: number): DemoWallet {
  const seed = createHash('sha256').update(`tonplane demo wallet: ${version}`).digest();
  const { publicKey, privateKey } = validatorKey(seed);
  const walletId = walletIdOf(version, globalId);
  const { address, init } = walletOf(version, globalId, publicKey);
  let seqno = 0;
  return {
    version,
    address,
    publicKey,
    send(messages) {
      const body = bodyOf(version, { walletId, seqno, messages });
      const signature = sign(undefined, body.hash(), privateKey);
      const signed = beginCell();
      if (version === 'v5r1') signed.storeSlice(body.beginParse()).storeBuffer(signature);
      else signed.storeBuffer(signature).storeSlice(body.beginParse());
      const message = external({ to: address, body: signed.endCell(), ...(seqno === 0 && { init }) });
      seqno++;
      return beginCell().store(storeMessage(message)).endCell().toBoc();
    },
  };
}

function walletIdOf(version: WalletVersion, globalId: number): number {
  return version === 'v5r1' ? (V5_CONTEXT ^ globalId) >>> 0 : WALLET_ID;
}

/**
 * Returns code and initial data of a basechain wallet.
 * @param globalId signed; part of the address of a v5
 */
export function walletOf(version: WalletVersion, globalId: number, publicKey: Buffer): Deployed {
  return contractOf(WALLET_CODES[version], dataOf(version, walletIdOf(version, globalId), publicKey));
}

function dataOf(version: WalletVersion, walletId: number, publicKey: Buffer): Cell {
  if (version === 'v5r1') {
    // Signatures are allowed, nothing sent yet, no extensions.
    const data = beginCell().storeBit(true).storeUint(0, 32).storeUint(walletId, 32);
    return data.storeBuffer(publicKey).storeBit(false).endCell();
  }
  const data = beginCell().storeUint(0, 32);
  if (version >= 'v3') data.storeUint(walletId, 32);
  data.storeBuffer(publicKey);
  if (version === 'v4r2') data.storeBit(false);
  return data.endCell();
}

type Order = { readonly walletId: number; readonly seqno: number; readonly messages: readonly MessageRelaxed[] };

function bodyOf(version: WalletVersion, { walletId, seqno, messages }: Order): Cell {
  if (version === 'v5r1') {
    const body = beginCell().storeUint(EXTERNAL_SIGNED, 32).storeUint(walletId, 32);
    const actions = messages.map((outMsg) => ({ type: 'sendMsg', mode: SEND_MODE, outMsg }) as const);
    const list = beginCell().store(storeOutList(actions));
    return body.storeUint(NEVER, 32).storeUint(seqno, 32).storeMaybeRef(list.endCell()).storeBit(false).endCell();
  }
  const body = beginCell();
  if (version < 'v2') body.storeUint(seqno, 32);
  else if (version < 'v3') body.storeUint(seqno, 32).storeUint(NEVER, 32);
  else body.storeUint(walletId, 32).storeUint(NEVER, 32).storeUint(seqno, 32);
  if (version === 'v4r2') body.storeUint(0, 8);
  for (const message of messages) {
    body.storeUint(SEND_MODE, 8).storeRef(beginCell().store(storeMessageRelaxed(message)));
  }
  return body.endCell();
}

/** Code and data as `@ton/core` takes them. */
export type Deployed = { readonly address: Address; readonly init: StateInit };

/** Returns a contract whose initial state decides its address, in the basechain or another workchain. */
export function contractOf(code: string, data: Cell, workchain = 0): Deployed {
  const init = { code: Cell.fromBase64(code), data };
  return { address: contractAddress(workchain, init), init };
}
