import { dedustPools } from './dedust.ts';
import type { Family } from './family.ts';
import { jettonMasters, jettonWallets } from './jettons.ts';
import { jvaultContracts } from './jvault.ts';
import { multisigOrders, multisigs } from './multisigs.ts';
import { nftCollections, nftItems } from './nfts.ts';
import { nominatorPools } from './nominators.ts';
import { auctionsV4, salesAndAuctions, salesV4 } from './sales.ts';
import { telemintItems } from './telemint.ts';
import { vestings } from './vestings.ts';

/** All detected kinds (service/interfaces/README.md#kinds-of-contracts). If a contract is of several kinds with one row, the first counts. */
export const families: readonly Family[] = [
  jettonMasters,
  jettonWallets,
  nftCollections,
  nftItems,
  salesV4,
  auctionsV4,
  salesAndAuctions,
  telemintItems,
  multisigs,
  multisigOrders,
  vestings,
  dedustPools,
  nominatorPools,
  jvaultContracts,
];
