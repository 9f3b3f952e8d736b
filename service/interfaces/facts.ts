import type {
  DedustPoolInfo,
  JettonWalletInfo,
  MultisigOrderInfo,
  NftAuctionInfo,
  NftItemInfo,
  NftSaleInfo,
} from '../actions/interfaces.ts';

/** What classification knows of one account: of several kinds at most. */
export type AccountFacts = {
  readonly jettonWallet?: JettonWalletInfo;
  readonly nftItem?: NftItemInfo;
  readonly nftSale?: NftSaleInfo;
  readonly nftAuction?: NftAuctionInfo;
  readonly dedustPool?: DedustPoolInfo;
  readonly multisigOrder?: MultisigOrderInfo;
  readonly isNominatorPool?: true;
  /** BoC of the data cell, of contracts whose data the rules look into (indexing sheet 9.8: jVault wallets and pools). */
  readonly data?: Uint8Array;
};
