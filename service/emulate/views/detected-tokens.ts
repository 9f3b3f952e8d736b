import type { Detected } from '#service/interfaces/detector.ts';
import type { DescribedAccount } from '#service/v3/annotations/token-info-cache.ts';
import { viewAccountKey } from '#service/v3/request/scalars.ts';
import { describeToken, describeWallet, type DescribedToken } from '#service/v3/views/token-info.ts';

/** Nothing is fetched from outside of the chain. */
const notFetched = { metadata: null } as const;

/** A token by its own contract. Undefined for an account of another kind. */
export function describeDetected(detected: Detected): DescribedAccount | undefined {
  const { jettonMaster, nftCollection, nftItem, jettonWallet } = detected;
  const tokens: DescribedToken[] = [];
  if (jettonMaster !== undefined) {
    tokens.push(describeToken({ ...notFetched, content: jettonMaster.content, type: 'jetton_masters', index: null }));
  }
  if (nftCollection !== undefined) {
    tokens.push(describeToken({ ...notFetched, content: nftCollection.content, type: 'nft_collections', index: null }));
  }
  if (nftItem !== undefined) {
    const { content, index } = nftItem;
    tokens.push(describeToken({ ...notFetched, content, type: 'nft_items', index }));
  }
  const infos: object[] = tokens.map(({ info }) => info);
  if (jettonWallet !== undefined) {
    const parties = { owner: viewAccountKey(jettonWallet.owner), jetton: viewAccountKey(jettonWallet.jetton) };
    infos.push(describeWallet(parties, jettonWallet.balance));
  }
  if (infos.length === 0) return undefined;
  return {
    isIndexed: tokens.every(({ isIndexed }) => isIndexed),
    infos: infos.map((info) => JSON.stringify(info)).join(','),
  };
}
