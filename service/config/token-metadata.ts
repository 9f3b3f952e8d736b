import type { TonApi } from './manifest.gen.ts';

/** Settings for fetching token metadata that is stored outside of the chain. */
export type TokenMetadataConfig = {
  /** Base URL of an IPFS gateway, without a trailing slash; null: metadata in IPFS is not fetched. */
  readonly ipfsGateway: string | null;
  /** Most fetches in flight in a process. */
  readonly concurrency: number;
  /** Most fetches in flight to one host. */
  readonly concurrencyPerHost: number;
};

/** Returns null when nothing is fetched. */
export function tokenMetadataOf(wanted: TonApi['spec']['tokenMetadata']): TokenMetadataConfig | null {
  if (wanted === undefined) return null;
  const { ipfsGateway, concurrency, concurrencyPerHost } = wanted;
  return { ipfsGateway: ipfsGateway?.replace(/\/+$/, '') ?? null, concurrency, concurrencyPerHost };
}
