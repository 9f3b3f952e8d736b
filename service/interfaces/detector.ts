import type { AccountId } from '../live/accounts.ts';
import type { ContractWorld } from '../live/contract-world.ts';
import type {
  DnsEntryRow,
  JettonMasterRow,
  JettonWalletRow,
  MultisigOrderRow,
  MultisigRow,
  NftCollectionRow,
  NftItemRow,
  NftSaleRow,
  VestingContractRow,
} from '../store/meaning-tables.ts';
import type { AccountFacts } from './facts.ts';

/** An account whose state changed, as far as blocks tell. */
export type ChangedAccount = {
  readonly account: AccountId;
  /** 32 bytes; null for an account without code. */
  readonly codeHash: Uint8Array | null;
  /** Ids of the code's method dictionary, ascending; null when the code has another shape. */
  readonly methods: readonly number[] | null;
};

/** What an account is, confirmed by whoever has to: a contract may be several things. Rows as of the block of the world. */
export type Detected = {
  readonly jettonMaster?: JettonMasterRow;
  readonly jettonWallet?: JettonWalletRow;
  readonly nftCollection?: NftCollectionRow;
  readonly nftItem?: NftItemRow;
  readonly dnsEntry?: DnsEntryRow;
  readonly nftSale?: NftSaleRow;
  readonly multisig?: MultisigRow;
  readonly multisigOrder?: MultisigOrderRow;
  readonly vestingContract?: VestingContractRow;
  /** What classification reads; empty for an account that means nothing to it. */
  readonly facts: AccountFacts;
  /** Of the account's last transaction as of the block; 0 for an account that is not there. */
  readonly lastTransLt: bigint;
};

/** The part of a world that detection needs: of the chain, or of states that are only foreseen. */
export type DetectionWorld = Pick<ContractWorld, 'readAccount' | 'runMethod'>;

/** Finds out what accounts are by running their get-methods (indexing sheet 5). */
export type Detector = {
  /**
   * Undefined for an account that can be nothing of this by its code: then nothing was read.
   * Rejects as `ContractWorld.runMethod` does, for a failure that says nothing of the account.
   */
  detect(world: DetectionWorld, changed: ChangedAccount): Promise<Detected | undefined>;
};
