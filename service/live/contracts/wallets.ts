import { parseBoc } from '#service/decode/boc.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { openContractCell } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { knownWallet, type WalletType } from '#service/decode/known-codes.ts';
import { readWalletData, type WalletFields } from '#service/decode/wallet-layouts.ts';

/** Wallet contract by its public name, with the fields of its data (service/v2/README.md#wallet-types). */
export type Wallet = WalletFields & { readonly type: WalletType };

/** Code and data of an account as bags of cells. */
export type ContractState = {
  readonly code: Buffer | null;
  readonly data: Buffer | null;
  /** Hash of the root cell of the code, if it is known: the code may have 65,536 cells. */
  readonly codeHash?: Buffer | null;
};

/** Wallet of an account; undefined when its code is no known wallet's or its data do not fit the code. */
export function readWallet(state: ContractState): Wallet | undefined {
  return readWalletByHash(codeHash(state) ?? '', state);
}

/** Reads a wallet like `readWallet`. @param hash of the code, base64 */
export function readWalletByHash(hash: string, state: Pick<ContractState, 'data'>): Wallet | undefined {
  const version = knownWallet(hash);
  if (version === undefined) return undefined;
  return readContractData(state, (slice) => ({ type: version.type, ...readWalletData(version.data, slice) }));
}

/** Representation hash of the code in base64; undefined without code. */
export function codeHash({ code, codeHash: known }: ContractState): string | undefined {
  if (code === null) return undefined;
  if (known) return known.toString('base64');
  const table = parseBoc(code);
  return table.hash(table.roots[0]!).toString('base64');
}

/** Reads a contract's data; undefined for another layout, because anyone can deploy known code with other data. */
export function readContractData<T>(
  { data }: Pick<ContractState, 'data'>,
  layout: (slice: ContractSlice) => T,
): T | undefined {
  if (data === null) return undefined;
  try {
    const table = parseBoc(data);
    return layout(openContractCell({ table, cell: table.roots[0]! }));
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
