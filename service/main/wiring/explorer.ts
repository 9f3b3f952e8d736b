import type { ServiceConfig } from '#service/config.ts';
import { createExplorer, createExplorerAssets, type Explorer } from '#service/explorer/explorer.ts';

/** The explorer of a network on a laptop. */
export type ExplorerOptions = {
  /** Name of the network for a person. */
  readonly network: string;
  /** The internal listener can act on the network. */
  readonly isPrivate: boolean;
  /** Paths of pages on the public listener: how to connect, and the documents of all APIs. */
  readonly startPage: string;
  readonly documents: string;
  /** Path of facts with the API key, where callers need one. */
  readonly keyFacts?: string;
};

/** The explorer on both listeners; an absent one is not served. */
export type Explorers = { readonly public?: Explorer; readonly internal?: Explorer };

/** URLs of the two listeners; known when both listen. */
export type ListenerUrls = { readonly url: string; readonly internalUrl: string };

/**
 * Creates the explorer of the public listener, and that of the internal listener for a private network. A page of another origin reaches
 * nothing on the internal listener, so the page that acts on the network is served there.
 */
export function createExplorers(
  { surfaces, network }: Pick<ServiceConfig, 'surfaces' | 'network'>,
  version: string,
  urls: () => ListenerUrls,
  laptop?: ExplorerOptions,
): Explorers {
  if (!surfaces.includes('explorer')) return {};
  const assets = createExplorerAssets();
  const facts = { network: laptop?.network ?? network, version, surfaces };
  if (laptop === undefined) return { public: createExplorer(() => facts, assets) };
  const { isPrivate, startPage, documents, keyFacts } = laptop;
  const own = { ...facts, startPage, documents, ...(keyFacts !== undefined && { keyFacts }) };
  if (!isPrivate) return { public: createExplorer(() => own, assets) };
  return {
    public: createExplorer(() => ({ ...own, networkPage: `${urls().internalUrl}/explorer/network` }), assets),
    internal: createExplorer(() => {
      const apiUrl = reachable(urls().url);
      const there = { startPage: `${apiUrl}${startPage}`, documents: `${apiUrl}${documents}` };
      return { ...facts, ...there, networkPage: '/explorer/network', dev: { apiUrl } };
    }, assets),
  };
}

/** A listener on all addresses is reached over loopback. Browsers refuse the address 0.0.0.0. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
