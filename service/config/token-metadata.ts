import type { TonApi } from './manifest.gen.ts';

/** How what tokens keep outside of the chain is fetched. */
export type TokenMetadataConfig = {
  /** Base URL of an IPFS gateway, without a slash at the end; null: what is in IPFS is not fetched. */
  readonly ipfsGateway: string | null;
  /** Fetches under way at once in a process. */
  readonly concurrency: number;
  /** Of them, from one host. */
  readonly concurrencyPerHost: number;
};

/** Null where nothing is fetched. */
export function tokenMetadataOf(wanted: TonApi['spec']['tokenMetadata']): TokenMetadataConfig | null {
  if (wanted === undefined) return null;
  const { ipfsGateway, concurrency, concurrencyPerHost } = wanted;
  return { ipfsGateway: ipfsGateway?.replace(/\/+$/, '') ?? null, concurrency, concurrencyPerHost };
}
