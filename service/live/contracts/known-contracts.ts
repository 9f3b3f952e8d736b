import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { knownCode, type TonlibState } from '#service/decode/known-codes.ts';
import { readPaymentChannel } from './payment-channel.ts';
import type { PaymentChannel } from './payment-channel.ts';
import { readRestrictedWallet } from './restricted-wallet.ts';
import type { RestrictedWallet } from './restricted-wallet.ts';
import { codeHash, readContractData } from './wallets.ts';
import type { ContractState } from './wallets.ts';

/** Contract that tonlib recognizes by its code, with the fields of its data (service/v2/README.md#contract-types). */
export type KnownContract =
  | {
      readonly kind: 'wallet.v3' | 'wallet.v4' | 'wallet.highload.v1';
      readonly seqno: number;
      readonly walletId: number;
    }
  | { readonly kind: 'wallet.highload.v2' | 'dns'; readonly walletId: number }
  | { readonly kind: 'pchan'; readonly channel: PaymentChannel }
  | { readonly kind: 'rwallet'; readonly wallet: RestrictedWallet };

/** `revision` is tonlib's number of the code among those of its kind. */
export type RecognizedContract = { readonly contract: KnownContract; readonly revision: number };

type Reader = (slice: ContractSlice) => KnownContract;

function walletOf(kind: 'wallet.v3' | 'wallet.v4' | 'wallet.highload.v1'): Reader {
  return (slice) => ({ kind, seqno: slice.uint(32), walletId: slice.uint(32) });
}

function numberedOf(kind: 'wallet.highload.v2' | 'dns'): Reader {
  return (slice) => ({ kind, walletId: slice.uint(32) });
}

const READERS: { readonly [Kind in TonlibState['kind']]: Reader } = {
  'wallet.v3': walletOf('wallet.v3'),
  'wallet.v4': walletOf('wallet.v4'),
  'wallet.highload.v1': walletOf('wallet.highload.v1'),
  'wallet.highload.v2': numberedOf('wallet.highload.v2'),
  dns: numberedOf('dns'),
  pchan: (slice) => ({ kind: 'pchan', channel: readPaymentChannel(slice) }),
  rwallet: (slice) => ({ kind: 'rwallet', wallet: readRestrictedWallet(slice) }),
};

/** Undefined for other code, and for data that the known code would not produce. */
export function recognizeContract(state: ContractState): RecognizedContract | undefined {
  const hash = codeHash(state);
  return hash === undefined ? undefined : recognizeByHash(hash, state);
}

/** Recognizes a contract like `recognizeContract`. @param hash of the code, base64 */
export function recognizeByHash(hash: string, state: Pick<ContractState, 'data'>): RecognizedContract | undefined {
  const known = knownCode(hash)?.tonlib;
  if (known === undefined) return undefined;
  const contract = readContractData(state, READERS[known.kind]);
  return contract && { contract, revision: known.revision };
}
