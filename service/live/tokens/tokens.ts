import type { AccountId } from '../accounts/accounts.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { ChainSnapshots } from '../contracts/chain-snapshot.ts';
import type { KnownRecord } from './dns-records.ts';
import { LiveError } from '../errors.ts';
import { readJettonMaster, readJettonWallet } from './jettons.ts';
import { createZones, type ZonesOptions } from './dns-zones.ts';
import { readNftCollection, readNftItem } from './nfts.ts';
import type { TokenContent } from './token-content.ts';
import { createTokenContract } from './token-contract.ts';

export type JettonMaster = {
  readonly kind: 'jettonMaster';
  readonly totalSupply: bigint;
  readonly mintable: boolean;
  /** Undefined when there is no admin. */
  readonly admin: AccountId | undefined;
  readonly content: TokenContent;
  /** BoC. */
  readonly walletCode: Buffer;
};

export type JettonWallet = {
  readonly kind: 'jettonWallet';
  readonly balance: bigint;
  readonly owner: AccountId;
  readonly jetton: AccountId;
  /** Undefined for a wallet without this get-method. */
  readonly mintlessIsClaimed: boolean | undefined;
  /** BoC. */
  readonly walletCode: Buffer;
};

export type NftCollection = {
  readonly kind: 'nftCollection';
  readonly nextItemIndex: bigint;
  readonly owner: AccountId | undefined;
  readonly content: TokenContent;
};

export type NftItem = {
  readonly kind: 'nftItem';
  readonly init: boolean;
  readonly index: bigint;
  readonly collection: AccountId | undefined;
  readonly owner: AccountId | undefined;
  readonly content: TokenContent | DomainContent;
};

/** Content of an item that is a domain: its name and records, by category (32 bytes) in their order. */
export type DomainContent = {
  readonly kind: 'domain';
  readonly domain: string;
  readonly records: readonly { readonly category: Buffer; readonly record: KnownRecord }[];
};

export type Token = JettonMaster | JettonWallet | NftCollection | NftItem;

/**
 * Jettons and NFTs, recognized by their get-methods (TEP-62, 64, 74, 81), which run here on proved states.
 * The claims of an account are compared with its master or collection.
 * Errors: LiveError `not_a_token`, TvmError, PoolError, ProofError.
 */
export type LiveTokens = {
  /** @param seqno masterchain seqno to read at; the served head when absent */
  readToken(account: AccountId, seqno: number | undefined, context: ReadContext): Promise<LiveAnswer<Token>>;
};

/** Order of the checks; the first success wins (service/v2/README.md#token-data). */
const KINDS = [readJettonMaster, readJettonWallet, readNftCollection, readNftItem] as const;

export function createLiveTokens(options: ZonesOptions, dependencies: { worlds: ChainSnapshots }): LiveTokens {
  const zones = createZones(options);
  return {
    async readToken(account, seqno, context) {
      const world = await dependencies.worlds.open(seqno, context);
      const contract = createTokenContract(world, account, zones);
      const { code } = await world.readAccount(account);
      for (const read of code === null ? [] : KINDS) {
        const token = await read(contract);
        if (token !== undefined) return world.answer<Token>(token);
      }
      throw new LiveError('not_a_token', 'Smart contract is not Jetton or NFT');
    },
  };
}
