/** Facts about the accounts of a trace: addresses raw with upper-case hex, amounts in units (service/actions/README.md#facts-about-accounts). */
export type JettonWalletInfo = { readonly owner: string; readonly jetton: string };

export type NftItemInfo = {
  readonly index: bigint | null;
  readonly collection: string | null;
  readonly owner: string | null;
  readonly content: Readonly<Record<string, unknown>> | null;
  /** Base64; null when unknown. */
  readonly codeHash: string | null;
};

export type NftSaleInfo = {
  readonly marketplace: string | null;
  readonly nft: string | null;
  readonly nftOwner: string | null;
  readonly fullPrice: bigint | null;
  readonly codeHash: string | null;
};

export type NftAuctionInfo = {
  readonly marketplace: string | null;
  readonly nft: string | null;
  readonly nftOwner: string | null;
  readonly lastBid: bigint | null;
  readonly codeHash: string | null;
};

/** The two assets of a pool; null for TON. */
export type DedustPoolInfo = { readonly assets: readonly (string | null)[] };

export type MultisigOrderInfo = { readonly signers: readonly string[] };

/** Answers at once: what a trace may need is gathered before its actions are made. Undefined for accounts that are no such contract. */
export type Interfaces = {
  jettonWallet(account: string): JettonWalletInfo | undefined;
  nftItem(account: string): NftItemInfo | undefined;
  nftSale(account: string): NftSaleInfo | undefined;
  nftAuction(account: string): NftAuctionInfo | undefined;
  dedustPool(account: string): DedustPoolInfo | undefined;
  multisigOrder(account: string): MultisigOrderInfo | undefined;
  isNominatorPool(account: string): boolean;
  /** The account's data cell as a BoC, for contracts whose data the rules read. */
  data(account: string): Uint8Array | undefined;
};
