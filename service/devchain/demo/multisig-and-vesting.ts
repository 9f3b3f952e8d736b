import type { Address, MessageRelaxed } from '@ton/core';
import { Cell, Dictionary, beginCell, contractAddress, storeMessageRelaxed } from '@ton/core';

import { MULTISIG_CODE, MULTISIG_ORDER_LIBRARY, VESTING_CODE } from './contracts.ts';
import type { Deployed } from './wallets.ts';
import { contractOf } from './wallets.ts';

/** A multisig of which two of its signers must agree. */
export function multisig(signers: readonly Address[]): Deployed {
  const list = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Address());
  signers.forEach((signer, index) => list.set(index, signer));
  const signerList = beginCell().storeDictDirect(list);
  const data = beginCell().storeUint(0, 256).storeUint(2, 8).storeRef(signerList).storeUint(signers.length, 8);
  return contractOf(MULTISIG_CODE, data.storeBit(false).storeBit(false).endCell());
}

/** Returns an order for a multisig to send a message. The first signer sends the order, and thus approves it. */
export function newOrderBody(message: MessageRelaxed, expiresAt: number): Cell {
  const action = beginCell().storeUint(0xf138_1e5b, 32).storeUint(1, 8);
  action.storeRef(beginCell().store(storeMessageRelaxed(message)));
  const actions = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Cell());
  actions.set(0, action.endCell());
  const body = beginCell().storeUint(0xf718_510f, 32).storeUint(0, 64).storeUint(0, 256).storeBit(true);
  return body.storeUint(0, 8).storeUint(expiresAt, 48).storeRef(beginCell().storeDictDirect(actions)).endCell();
}

/**
 * Returns a masterchain account that publishes the code of orders. The multisig refers to that code by hash. A deployment may not bring
 * public libraries, so the contract publishes its data at its first call.
 */
export function orderLibrary(): Deployed {
  // `SETCP 0`, `ACCEPT`, `PUSHCTR c4`, `PUSHINT 2`, `SETLIBCODE`.
  const code = beginCell().storeUint(0xff00_f800_ed44n, 48).storeUint(0x72fb06, 24).endCell();
  const init = { code, data: Cell.fromBase64(MULTISIG_ORDER_LIBRARY) };
  return { address: contractAddress(-1, init), init };
}

const DAY_SECONDS = 86_400;

/** A wallet whose money comes free day by day within ten days. */
export function vestingWallet(terms: {
  readonly publicKey: Buffer;
  readonly sender: Address;
  readonly owner: Address;
  readonly startsAt: number;
  readonly amount: bigint;
}): Deployed {
  const { publicKey, sender, owner, startsAt, amount } = terms;
  const parameters = beginCell()
    .storeUint(startsAt, 64)
    .storeUint(10 * DAY_SECONDS, 32)
    .storeUint(DAY_SECONDS, 32);
  parameters.storeUint(DAY_SECONDS, 32).storeCoins(amount).storeAddress(sender).storeAddress(owner);
  const data = beginCell().storeUint(0, 32).storeUint(0, 32).storeBuffer(publicKey).storeBit(false);
  return contractOf(VESTING_CODE, data.storeRef(parameters).endCell());
}
