import type { AccountFacts } from '../interfaces/facts.ts';

/** `interface_facts.facts`. */
export type FactsJson = Readonly<Record<string, unknown>>;

/** Facts as they are stored: bigints as decimal text, bytes as base64. */
export function factsJson(facts: AccountFacts): FactsJson {
  const { nftItem, nftSale, nftAuction, data, ...plain } = facts;
  return {
    ...plain,
    ...(nftItem && { nftItem: { ...nftItem, index: textOf(nftItem.index) } }),
    ...(nftSale && { nftSale: { ...nftSale, fullPrice: textOf(nftSale.fullPrice) } }),
    ...(nftAuction && { nftAuction: { ...nftAuction, lastBid: textOf(nftAuction.lastBid) } }),
    ...(data && { data: Buffer.from(data).toString('base64') }),
  };
}

/** The reverse of `factsJson`. */
export function readFactsJson(json: FactsJson): AccountFacts {
  const { nftItem, nftSale, nftAuction, data, ...plain } = json as Stored;
  return {
    ...plain,
    ...(nftItem && { nftItem: { ...nftItem, index: bigintOf(nftItem.index) } }),
    ...(nftSale && { nftSale: { ...nftSale, fullPrice: bigintOf(nftSale.fullPrice) } }),
    ...(nftAuction && { nftAuction: { ...nftAuction, lastBid: bigintOf(nftAuction.lastBid) } }),
    ...(data !== undefined && { data: Buffer.from(data, 'base64') }),
  };
}

type AsText<T> = { readonly [K in keyof T]: bigint extends T[K] ? string | null : T[K] };

type Stored = Omit<AccountFacts, 'nftItem' | 'nftSale' | 'nftAuction' | 'data'> & {
  readonly nftItem?: AsText<NonNullable<AccountFacts['nftItem']>>;
  readonly nftSale?: AsText<NonNullable<AccountFacts['nftSale']>>;
  readonly nftAuction?: AsText<NonNullable<AccountFacts['nftAuction']>>;
  readonly data?: string;
};

function textOf(value: bigint | null): string | null {
  return value === null ? null : value.toString();
}

function bigintOf(value: string | null): bigint | null {
  return value === null ? null : BigInt(value);
}
