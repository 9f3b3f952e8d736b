import { type Address, beginCell, type Cell, Dictionary, internal, storeMessageRelaxed } from '@ton/core';

// Orders of a multisig of version 2, as its TL-B has them.

/** `send_message#f1381e5b mode:uint8 message:^MessageRelaxed`. */
export function sendStep(message: { to: Address; value: bigint; body?: Cell; mode?: number }): Cell {
  const { to, value, body, mode = 1 } = message;
  const sent = beginCell().store(storeMessageRelaxed(internal({ to, value, bounce: true, ...(body && { body }) })));
  return beginCell().storeUint(0xf1381e5b, 32).storeUint(mode, 8).storeRef(sent).endCell();
}

/** `update_multisig_params#1d0cfbd3 threshold:uint8 signers:^(Hashmap 8 MsgAddressInt) proposers:(HashmapE 8 MsgAddressInt)`. */
export function updateStep(params: {
  threshold: number;
  signers: readonly Address[];
  proposers: readonly Address[];
}): Cell {
  const signers = beginCell().storeDictDirect(listOf(params.signers));
  return beginCell()
    .storeUint(0x1d0cfbd3, 32)
    .storeUint(params.threshold, 8)
    .storeRef(signers)
    .storeDict(listOf(params.proposers))
    .endCell();
}

/** `(Hashmap 8 ^action)`, with keys from 0 on. */
export function orderOf(steps: readonly Cell[]): Cell {
  const order = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Cell());
  steps.forEach((step, at) => order.set(at, step));
  return beginCell().storeDictDirect(order).endCell();
}

function listOf(addresses: readonly Address[]): Dictionary<number, Address> {
  const list = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Address());
  addresses.forEach((address, at) => list.set(at, address));
  return list;
}
