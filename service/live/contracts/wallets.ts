import { parseBoc } from '#service/decode/boc.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { openContractCell } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { knownWallet, type WalletData, type WalletType } from '#service/decode/known-codes.ts';

/** Fields of a wallet's data by their layout. `seqno` is unsigned 32 bits. */
type WalletFields = {
  readonly seqno: { readonly seqno: number };
  /** The id is unsigned. */
  readonly seqno_id: { readonly seqno: number; readonly walletId: number };
  /** The id is signed. */
  readonly v5: WalletFieldsV5;
  /** The id is the first 32 bits of 80, unsigned. */
  readonly v5_beta: WalletFieldsV5;
};

type WalletFieldsV5 = {
  readonly seqno: number;
  readonly walletId: number;
  readonly isSignatureAllowed: boolean;
};

/** Wallet contract by its public name, with the fields of its data (service/v2/README.md#wallet-types). */
export type Wallet = {
  [Data in WalletData]: { readonly type: WalletType<Data> } & WalletFields[Data];
}[WalletData];

const FIELDS: { readonly [Data in WalletData]: (slice: ContractSlice) => WalletFields[Data] } = {
  /** `seqno:uint32`. */
  seqno: (slice) => ({ seqno: slice.uint(32) }),
  /** `seqno:uint32 wallet_id:uint32`. */
  seqno_id: (slice) => ({ seqno: slice.uint(32), walletId: slice.uint(32) }),
  /** `is_signature_allowed:Bool seqno:uint32 wallet_id:int32`. */
  v5(slice) {
    const isSignatureAllowed = slice.bit();
    return { seqno: slice.uint(32), walletId: slice.int(32), isSignatureAllowed };
  },
  /** `seqno:uint33 wallet_id:uint80`, read as v5 r1: indexers take the seqno's first bit for the flag (service/v3/README.md#wallet-states). */
  v5_beta(slice) {
    const isSignatureAllowed = slice.bit();
    return { seqno: slice.uint(32), walletId: slice.uint(32), isSignatureAllowed };
  },
};

/** Code and data of an account as bags of cells. */
export type ContractState = { readonly code: Buffer | null; readonly data: Buffer | null };

/** Wallet of an account; undefined when its code is no known wallet's or its data do not fit the code. */
export function readWallet(state: ContractState): Wallet | undefined {
  return readWalletByHash(codeHash(state) ?? '', state);
}

/** Reads a wallet like `readWallet`. @param hash of the code, base64 */
export function readWalletByHash(hash: string, state: Pick<ContractState, 'data'>): Wallet | undefined {
  const version = knownWallet(hash);
  if (version === undefined) return undefined;
  // The version has both the type and the layout, so they belong together.
  return readContractData(state, (slice) => ({ type: version.type, ...FIELDS[version.data](slice) }) as Wallet);
}

/** Representation hash of the code in base64; undefined without code. */
export function codeHash({ code }: ContractState): string | undefined {
  if (code === null) return undefined;
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
