import type { Interfaces } from '../actions/engine/interfaces.ts';
import type { AccountFacts } from './facts.ts';

/** Answers the queries of classification from facts by account, raw with upper-case hex. */
export function interfacesOf(factsOf: (account: string) => AccountFacts | undefined): Interfaces {
  return {
    jettonWallet: (account) => factsOf(account)?.jettonWallet,
    nftItem: (account) => factsOf(account)?.nftItem,
    nftSale: (account) => factsOf(account)?.nftSale,
    nftAuction: (account) => factsOf(account)?.nftAuction,
    dedustPool: (account) => factsOf(account)?.dedustPool,
    multisigOrder: (account) => factsOf(account)?.multisigOrder,
    isNominatorPool: (account) => factsOf(account)?.isNominatorPool === true,
    data: (account) => factsOf(account)?.data,
  };
}
