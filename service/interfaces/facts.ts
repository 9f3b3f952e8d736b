import type {
  DedustPoolInfo,
  JettonWalletInfo,
  MultisigOrderInfo,
  NftAuctionInfo,
  NftItemInfo,
  NftSaleInfo,
} from '../actions/engine/interfaces.ts';

/** Facts of one account for classification. An account may be of several kinds. */
export type AccountFacts = {
  readonly jettonWallet?: JettonWalletInfo;
  readonly nftItem?: NftItemInfo;
  readonly nftSale?: NftSaleInfo;
  readonly nftAuction?: NftAuctionInfo;
  readonly dedustPool?: DedustPoolInfo;
  readonly multisigOrder?: MultisigOrderInfo;
  readonly isNominatorPool?: true;
  /** Data cell as BoC, for contracts whose data the rules read: jVault wallets and pools (service/actions/README.md#facts-about-accounts). */
  readonly data?: Uint8Array;
};
