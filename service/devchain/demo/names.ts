import { createHash } from 'node:crypto';

import type { Address } from '@ton/core';
import { Cell, Dictionary, beginCell } from '@ton/core';

import { parseBoc } from '#service/decode/boc.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { editAccount, editConfig } from '../chain/edit-builders.ts';
import type { AccountEdit } from '../collator/state-edits.ts';
import { DNS_COLLECTION_CODE, DNS_ITEM_CODE, DNS_ROOT_CODE } from './contracts.ts';
import type { Deployed } from './wallets.ts';
import { contractOf } from './wallets.ts';

/** Contracts of the name service (TEP-81). */
export type Names = { readonly root: Deployed; readonly collection: Deployed; readonly item: Deployed };

/** Nanotons that each of them has: enough for the rent of years. */
const BALANCE = 1_000_000_000n;

/** Further entries of the root besides `.ton`, as on mainnet. No contract answers there. */
const ELSEWHERE = ['71', 'e4'];

/**
 * Creates a root for `.ton`, and a domain that resolves to an account.
 * @param utime unix seconds of the domain's registration
 */
export function createNames(name: string, owner: Address, utime: number): Names {
  const about = beginCell().storeUint(1, 8).storeStringTail('https://demo.tonplane.invalid/dns.json');
  const itemCode = Cell.fromBase64(DNS_ITEM_CODE);
  const collection = contractOf(DNS_COLLECTION_CODE, beginCell().storeRef(about).storeRef(itemCode).endCell());
  const root = beginCell().storeAddress(collection.address);
  for (const byte of ELSEWHERE)
    root
      .storeUint(0b100, 3)
      .storeInt(0, 8)
      .storeBuffer(Buffer.alloc(32, byte, 'hex'));
  const domain = beginCell().storeBuffer(Buffer.from(name)).endCell();
  const first = beginCell().storeBuffer(domain.hash()).storeAddress(collection.address);
  const { address } = contractOf(DNS_ITEM_CODE, first.endCell());
  const data = beginCell().storeBuffer(domain.hash()).storeAddress(collection.address).storeAddress(owner);
  data.storeRef(recordsOf(owner)).storeRef(domain).storeBit(false).storeUint(utime, 64);
  return {
    root: contractOf(DNS_ROOT_CODE, root.endCell(), -1),
    collection,
    item: { address, init: { code: itemCode, data: data.endCell() } },
  };
}

/** Returns a body that contracts of the name service treat as a plain transfer. */
export function fillUpBody(): Cell {
  return beginCell().storeUint(0x370f_ec51, 32).storeUint(0, 64).endCell();
}

/** `dns_smc_address#9fd3` under `wallet`. */
function recordsOf(wallet: Address): Cell {
  const records = Dictionary.empty(Dictionary.Keys.Buffer(32), Dictionary.Values.Cell());
  const key = createHash('sha256').update('wallet').digest();
  records.set(key, beginCell().storeUint(0x9fd3, 16).storeAddress(wallet).storeUint(0, 8).endCell());
  return beginCell().storeUint(0, 8).storeDict(records).endCell();
}

/** Puts the contracts into the state, the domain without its auction, and the root into configuration parameter 4. */
export function editNames({ root, collection, item }: Names): AccountEdit[] {
  const parameter = (states: CellStore): number => new BitWriter().bytes(root.address.hash).finish(states);
  return [
    ...[root, collection, item].map(({ address, init }) =>
      editAccount({ workchain: address.workChain, id: address.hash }, (states) => ({
        balance: BALANCE,
        code: importCell(states, init.code!),
        data: importCell(states, init.data!),
      })),
    ),
    editConfig((states) => new Map([[4, parameter(states)]])),
  ];
}

function importCell(states: CellStore, cell: Cell): number {
  const boc = parseBoc(cell.toBoc());
  return states.import(boc, boc.roots[0]!);
}
