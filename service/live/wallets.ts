import { parseBoc } from '../decode/boc.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { DecodeError } from '../decode/errors.ts';

/** A wallet contract by the names that callers know (v2 sheet 9.1, getWalletInformation). */
export type WalletType =
  | 'wallet v1 r1'
  | 'wallet v1 r2'
  | 'wallet v1 r3'
  | 'wallet v2 r1'
  | 'wallet v2 r2'
  | 'wallet v3 r1'
  | 'wallet v3 r2'
  | 'wallet v4 r1'
  | 'wallet v4 r2'
  | 'wallet v5 beta'
  | 'wallet v5 r1';

/** What a wallet's data says. */
export type Wallet = {
  readonly type: WalletType;
  /** Unsigned 32 bits. */
  readonly seqno: number;
  /** Unsigned 32 bits before v5, signed in it; undefined for wallets that have none of that length. */
  readonly walletId?: number;
  /** V5 only. */
  readonly isSignatureAllowed?: boolean;
};

type Layout = (slice: CellSlice) => Omit<Wallet, 'type'>;

/** `seqno:uint32`. */
const seqnoOnly: Layout = (slice) => ({ seqno: slice.uint(32) });

/** `seqno:uint32 wallet_id:uint32`. */
const seqnoAndId: Layout = (slice) => ({ seqno: slice.uint(32), walletId: slice.uint(32) });

/** `is_signature_allowed:Bool seqno:uint32 wallet_id:int32`. */
const v5: Layout = (slice) => {
  const isSignatureAllowed = slice.bit();
  return { seqno: slice.uint(32), walletId: slice.int(32), isSignatureAllowed };
};

/** `seqno:uint33`, then an 80-bit id: only the seqno's low 32 bits are shown. */
const v5Beta: Layout = (slice) => {
  slice.skip(1);
  return { seqno: slice.uint(32) };
};

/** By the code's representation hash in base64. */
const WALLETS: ReadonlyMap<string, readonly [type: WalletType, layout: Layout]> = new Map([
  ['oM/CxIruFqJx8s/AtzgtgXVs7LEBfQd/qqs7tgL2how=', ['wallet v1 r1', seqnoOnly]],
  ['1JAvzJ+tdGmPqONTIgpo2g3PcuMryy657gQhfBfTBiw=', ['wallet v1 r2', seqnoOnly]],
  ['WHzHie/xyE9G7DeX5F/ICaFP9a4k8eDHpqmcydyQYf8=', ['wallet v1 r3', seqnoOnly]],
  ['XJpeaMEI4YchoHxC+ZVr+zmtd+xtYktgxXbsiO7mUyk=', ['wallet v2 r1', seqnoOnly]],
  ['/pUw0yQ4Uwg+8u8LTCkIwKv2+hwx6iQ6rKpb+MfXU/E=', ['wallet v2 r2', seqnoOnly]],
  ['thBBpYp5gLlG6PueGY48kE0keZ/6NldOpCUcQaVm9YE=', ['wallet v3 r1', seqnoAndId]],
  ['hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=', ['wallet v3 r2', seqnoAndId]],
  ['ZN1UgFUixb6KnbWc6gEFzPDQh4bKeb64y3nogKjXMi0=', ['wallet v4 r1', seqnoAndId]],
  ['/rX/aCDi/w2Ug+fg1iyBfYRniftK5YDIeIZtlZ2r1cA=', ['wallet v4 r2', seqnoAndId]],
  ['89fKU0k97trCizgZhqhJQDy6w9LFhHea8IEGWvCsS5M=', ['wallet v5 beta', v5Beta]],
  ['IINLe3KxEhR+Gy+0V7hOdNGjDwT3N9T2KmaOlVLSty8=', ['wallet v5 r1', v5]],
]);

/** Code and data of an account as bags of cells. */
export type ContractState = { readonly code: Buffer | null; readonly data: Buffer | null };

/** The wallet that an account is; undefined when its code is no known wallet's or its data not what that code works on. */
export function readWallet(state: ContractState): Wallet | undefined {
  const known = WALLETS.get(codeHash(state) ?? '');
  if (known === undefined) return undefined;
  const [type, layout] = known;
  const read = readContractData(state, layout);
  return read && { type, ...read };
}

/** Representation hash of the code in base64; undefined without code. */
export function codeHash({ code }: ContractState): string | undefined {
  if (code === null) return undefined;
  const table = parseBoc(code);
  return table.hash(table.roots[0]!).toString('base64');
}

/** Reads a contract's data; undefined when it is not of the layout: anyone can deploy known code with other data. */
export function readContractData<T>({ data }: ContractState, layout: (slice: CellSlice) => T): T | undefined {
  if (data === null) return undefined;
  try {
    const table = parseBoc(data);
    return layout(new CellSlice(table, table.roots[0]!));
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
