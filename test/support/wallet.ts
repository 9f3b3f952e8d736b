import { sign } from 'node:crypto';

import type { Cell, MessageRelaxed } from '@ton/core';
import { Address, beginCell, external, internal, SendMode, storeMessage, storeMessageRelaxed } from '@ton/core';
import { WalletContractV4 } from '@ton/ton';
import { validatorKey } from '#service/devchain/chain/signing.ts';

/** A wallet v4r2 of a seed, whose messages expire far in the future of any test's clock. */
export type TestWallet = {
  readonly address: Address;
  readonly id: Buffer;
  /** Code and data before its first message. */
  readonly init: { readonly code: Cell; readonly data: Cell };
  /**
   * A message from outside that sends others on.
   * @param options `deploy` brings the wallet's code; `until`: Unix seconds up to which the message is valid
   */
  send(
    seqno: number,
    messages: readonly MessageRelaxed[],
    options?: { readonly deploy?: boolean; readonly until?: number },
  ): Buffer;
};

const NEVER = 0xffff_ffff;

export function testWallet(seed: Buffer): TestWallet {
  return testWalletAt(undefined, seed);
}

/** A wallet that somebody put at another address than its own. */
export function testWalletAt(at: Address | undefined, seed: Buffer): TestWallet {
  const { publicKey, privateKey } = validatorKey(seed);
  const wallet = WalletContractV4.create({ workchain: 0, publicKey });
  const address = at ?? wallet.address;
  return {
    address,
    id: address.hash,
    init: wallet.init,
    send(seqno, messages, { deploy = false, until = NEVER } = {}) {
      // Signed here: the library's own signatures take 7 ms each, and loads are made of thousands.
      const order = beginCell()
        .storeUint(wallet.walletId, 32)
        .storeUint(until, 32)
        .storeUint(seqno, 32)
        .storeUint(0, 8);
      for (const one of messages) {
        const cell = beginCell().store(storeMessageRelaxed(one)).endCell();
        order.storeUint(SendMode.PAY_GAS_SEPARATELY, 8).storeRef(cell);
      }
      const signature = sign(null, order.endCell().hash(), privateKey);
      const body = beginCell().storeBuffer(signature).storeBuilder(order).endCell();
      const message = external({ to: address, body, ...(deploy && { init: wallet.init }) });
      return beginCell().store(storeMessage(message)).endCell().toBoc();
    },
  };
}

/** A message with nanotons, and without a comment no body. */
export function transfer(to: Address | string, value: bigint, bounce = false, comment?: string): MessageRelaxed {
  return internal({ to: typeof to === 'string' ? Address.parse(to) : to, value, bounce, body: comment });
}
