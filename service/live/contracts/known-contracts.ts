import type { ContractSlice } from '#service/decode/cell-slice.ts';
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

const v3 = walletOf('wallet.v3');
const v4 = walletOf('wallet.v4');
const highloadV1 = walletOf('wallet.highload.v1');
const highloadV2 = numberedOf('wallet.highload.v2');
const dns = numberedOf('dns');
const channel: Reader = (slice) => ({ kind: 'pchan', channel: readPaymentChannel(slice) });
const restricted: Reader = (slice) => ({ kind: 'rwallet', wallet: readRestrictedWallet(slice) });

/** Contracts by the code's representation hash in base64. */
const CONTRACTS: ReadonlyMap<string, readonly [revision: number, read: Reader]> = new Map([
  ['thBBpYp5gLlG6PueGY48kE0keZ/6NldOpCUcQaVm9YE=', [1, v3]],
  ['hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=', [2, v3]],
  ['/rX/aCDi/w2Ug+fg1iyBfYRniftK5YDIeIZtlZ2r1cA=', [2, v4]],
  ['2M27t58sXKpnesRQdwvgNRviHhJQSG3oXMUqoz3RZIQ=', [1, highloadV1]],
  ['NowDly5fTCRBK4GGUt4d4qJjDRwBFgmZnf90X7NoSa0=', [2, highloadV1]],
  ['CrH/k6nnnA3v9EBdja1rWsn4wBsvHry0JZ/rnpg4AJk=', [-1, highloadV1]],
  ['jOtFs81LXMYOquHBO5wJI5Jnf+U2sumy2AG2Lv+TH+E=', [1, highloadV2]],
  ['CzqIeurNKn1Au1VQvJJTFWoCkGWu+21rWDc11Y2p1b4=', [2, highloadV2]],
  ['lJTRzI7fEvBWcaGpugmSEJbrUIEeGSTsZcPGKfu4CBI=', [-1, highloadV2]],
  ['oNZ9LeiRn+e3yndlLM1P3FbGid56aRYeRfsNzF5HwVU=', [1, dns]],
  ['c1Ot4+H3y+3FJbPnvDIm/lrIJ2+lJ5rDf7bvvIj0Irc=', [-1, dns]],
  ['Da+y0ZPcWqW+4h62BwUQypR10vDW62Ks+b8Ckjznjgs=', [-1, channel]],
  ['jTUEm5Rs8ztYUQu0VgyEGpRfd4HW3p/GnKP0MPbjInM=', [1, restricted]],
]);

/** Undefined for other code, and for data that the known code would not produce. */
export function recognizeContract(state: ContractState): RecognizedContract | undefined {
  const hash = codeHash(state);
  return hash === undefined ? undefined : recognizeByHash(hash, state);
}

/** Recognizes a contract like `recognizeContract`. @param hash of the code, base64 */
export function recognizeByHash(hash: string, state: Pick<ContractState, 'data'>): RecognizedContract | undefined {
  const known = CONTRACTS.get(hash);
  if (known === undefined) return undefined;
  const [revision, read] = known;
  const contract = readContractData(state, read);
  return contract && { contract, revision };
}
