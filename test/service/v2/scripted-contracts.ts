import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { FeesCall } from '#service/live/contracts/chain-snapshot.ts';
import type { DnsEntry, DnsQuestion, LiveDns } from '#service/live/tokens/dns.ts';
import type { LiveFees, SourceFees } from '#service/live/contracts/fees.ts';
import type { LiveTokens, Token } from '#service/live/tokens/tokens.ts';
import { bytes32, emptyCellBoc } from './scripted-accounts.ts';

/** A token by script; a collection without owner unless told otherwise. */
export function scriptTokens(read: (account: AccountId) => Token = () => plainCollection): LiveTokens {
  return { readToken: async (account) => ({ value: read(account), liteServers: [4], cached: false }) };
}

export const plainCollection: Token = {
  kind: 'nftCollection',
  nextItemIndex: -1n,
  owner: undefined,
  content: { kind: 'offchain', uri: 'https://example.org/collection.json' },
};

export const plainWallet: Token = {
  kind: 'jettonWallet',
  balance: 2n ** 120n,
  owner: { workchain: 0, id: bytes32(1) },
  jetton: { workchain: -1, id: bytes32(2) },
  mintlessIsClaimed: undefined,
  walletCode: emptyCellBoc,
};

/** Records by script; remembers the questions. */
export function scriptDns(
  resolve: (question: DnsQuestion) => readonly DnsEntry[] = () => [],
): LiveDns & { readonly asked: (DnsQuestion & { seqno: number | undefined })[] } {
  const asked: (DnsQuestion & { seqno: number | undefined })[] = [];
  return {
    asked,
    async resolve(question, seqno) {
      asked.push({ ...question, seqno });
      return { value: resolve(question), liteServers: [4], cached: false };
    },
  };
}

/** Fees by script; remembers the messages. */
export function scriptFees(
  fees: SourceFees = { inForwardFee: 603_200n, storageFee: 130n, gasFee: 1_937_000n, forwardFee: 1_000_000n },
): LiveFees & { readonly asked: FeesCall[] } {
  const asked: FeesCall[] = [];
  return {
    asked,
    async estimateFees(call) {
      asked.push(call);
      return { value: fees, liteServers: [4], cached: false };
    },
  };
}
