import { Address, beginCell, external, storeMessage, type Cell } from '@ton/core';

/** An external message to an account of the base chain. */
export function externalTo(id: Buffer, body = beginCell().storeUint(1, 8).endCell()): Cell {
  return beginCell()
    .store(storeMessage(external({ to: new Address(0, id), body })))
    .endCell();
}
