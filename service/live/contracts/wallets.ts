import { parseBoc } from '#service/decode/boc.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { openContractCell } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';

/**
 * Wallet contract by its public name, with the fields of its data (service/v2/README.md#wallet-types).
 * `seqno` is unsigned 32 bits; `walletId` is unsigned before v5 and signed in v5.
 */
export type Wallet =
  | { readonly type: `wallet v1 r${1 | 2 | 3}` | `wallet v2 r${1 | 2}`; readonly seqno: number }
  | { readonly type: `wallet v${3 | 4} r${1 | 2}`; readonly seqno: number; readonly walletId: number }
  | WalletV5<'wallet v5 beta'>
  | WalletV5<'wallet v5 r1'>;

type WalletV5<T extends string> = {
  readonly type: T;
  readonly seqno: number;
  /** Wallet id. For the beta: the first 32 bits of 80, unsigned. */
  readonly walletId: number;
  readonly isSignatureAllowed: boolean;
};

type WalletCode = { readonly type: Wallet['type']; readonly read: (slice: ContractSlice) => Wallet };

/** `seqno:uint32`. */
function numbered(type: `wallet v1 r${1 | 2 | 3}` | `wallet v2 r${1 | 2}`): WalletCode {
  return { type, read: (slice) => ({ type, seqno: slice.uint(32) }) };
}

/** `seqno:uint32 wallet_id:uint32`. */
function identified(type: `wallet v${3 | 4} r${1 | 2}`): WalletCode {
  return { type, read: (slice) => ({ type, seqno: slice.uint(32), walletId: slice.uint(32) }) };
}

/** `is_signature_allowed:Bool seqno:uint32 wallet_id:int32`. */
function readV5(slice: ContractSlice): Wallet {
  const isSignatureAllowed = slice.bit();
  return { type: 'wallet v5 r1', seqno: slice.uint(32), walletId: slice.int(32), isSignatureAllowed };
}

/** `seqno:uint33 wallet_id:uint80`, read as v5 r1: indexers take the seqno's first bit for the flag (service/v3/README.md#wallet-states). */
function readV5Beta(slice: ContractSlice): Wallet {
  const isSignatureAllowed = slice.bit();
  return { type: 'wallet v5 beta', seqno: slice.uint(32), walletId: slice.uint(32), isSignatureAllowed };
}

/** Wallets by the code's representation hash in base64. */
const WALLETS: ReadonlyMap<string, WalletCode> = new Map([
  ['oM/CxIruFqJx8s/AtzgtgXVs7LEBfQd/qqs7tgL2how=', numbered('wallet v1 r1')],
  ['1JAvzJ+tdGmPqONTIgpo2g3PcuMryy657gQhfBfTBiw=', numbered('wallet v1 r2')],
  ['WHzHie/xyE9G7DeX5F/ICaFP9a4k8eDHpqmcydyQYf8=', numbered('wallet v1 r3')],
  ['XJpeaMEI4YchoHxC+ZVr+zmtd+xtYktgxXbsiO7mUyk=', numbered('wallet v2 r1')],
  ['/pUw0yQ4Uwg+8u8LTCkIwKv2+hwx6iQ6rKpb+MfXU/E=', numbered('wallet v2 r2')],
  ['thBBpYp5gLlG6PueGY48kE0keZ/6NldOpCUcQaVm9YE=', identified('wallet v3 r1')],
  ['hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=', identified('wallet v3 r2')],
  ['ZN1UgFUixb6KnbWc6gEFzPDQh4bKeb64y3nogKjXMi0=', identified('wallet v4 r1')],
  ['/rX/aCDi/w2Ug+fg1iyBfYRniftK5YDIeIZtlZ2r1cA=', identified('wallet v4 r2')],
  ['89fKU0k97trCizgZhqhJQDy6w9LFhHea8IEGWvCsS5M=', { type: 'wallet v5 beta', read: readV5Beta }],
  ['IINLe3KxEhR+Gy+0V7hOdNGjDwT3N9T2KmaOlVLSty8=', { type: 'wallet v5 r1', read: readV5 }],
]);

/** Code and data of an account as bags of cells. */
export type ContractState = { readonly code: Buffer | null; readonly data: Buffer | null };

/** Wallet of an account; undefined when its code is no known wallet's or its data do not fit the code. */
export function readWallet(state: ContractState): Wallet | undefined {
  return readWalletByHash(codeHash(state) ?? '', state);
}

/** Reads a wallet like `readWallet`. @param hash of the code, base64 */
export function readWalletByHash(hash: string, state: Pick<ContractState, 'data'>): Wallet | undefined {
  const code = WALLETS.get(hash);
  return code && readContractData(state, code.read);
}

/** Wallet type of a code; undefined for any other code. @param hash of the code, base64 */
export function walletType(hash: string): Wallet['type'] | undefined {
  return WALLETS.get(hash)?.type;
}

/** True for the code of a wallet. @param hash of the code, base64 */
export function isWalletCode(hash: string): boolean {
  return WALLETS.has(hash);
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
