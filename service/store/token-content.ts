import { isIP } from 'node:net';

import type { AddressMetadataRow } from './classification-tables.ts';

// Token metadata as rows of `address_metadata`, for fetching and for answers (service/metadata/README.md#token-metadata).

/** Kind of contract of the metadata; same as `type` of `address_metadata`. */
export const tokenTypes = ['jetton_masters', 'nft_collections', 'nft_items'] as const;

export type TokenType = (typeof tokenTypes)[number];

/** A token with metadata. */
export type TokenName = {
  /** Key of `accountKey`. */
  readonly address: Uint8Array;
  readonly type: TokenType;
};

/** Metadata of a token by column. */
export type TokenWords = Pick<AddressMetadataRow, 'name' | 'description' | 'symbol' | 'image' | 'extra'>;

const wordColumns = ['name', 'description', 'symbol', 'image'] as const;

/** Sorts keys into columns: the four text columns for texts, `extra` for all else. */
export function wordsOf(content: Readonly<Record<string, unknown>>): TokenWords {
  const words = Object.fromEntries(wordColumns.map((name) => [name, textOrNull(content[name])])) as {
    readonly [name in (typeof wordColumns)[number]]: string | null;
  };
  const rest = Object.entries(content).filter(([name]) => (words as Record<string, unknown>)[name] !== content[name]);
  return { ...words, extra: Object.fromEntries(rest) };
}

/** URI of a token's content outside of the chain; undefined without a usable URI. */
export function outsideOf(content: Readonly<Record<string, unknown>>): string | undefined {
  return [content['url'], content['uri']].find(
    (uri): uri is string => typeof uri === 'string' && /^(https?|ipfs):\/\//i.test(uri),
  );
}

/** True if metadata is sufficient without content from outside. */
export function sayEnough(type: TokenType, { name, description, symbol, image, extra }: TokenWords): boolean {
  if (type === 'jetton_masters') return symbol !== null;
  if (type === 'nft_items') return (name ?? textOrNull(extra['domain'])) !== null;
  return (name ?? description ?? image) !== null;
}

/** Keys of `extra` with a link to the image. The reference has an image proxy with three sizes. */
const imageLinkNames = ['_image_small', '_image_medium', '_image_big'] as const;

/** Returns `extra` with links to the image, and without links that a stranger gave. @param url undefined: no links */
export function withImageLinks(extra: TokenWords['extra'], url: string | undefined): Readonly<Record<string, unknown>> {
  const links = imageLinkNames.map((name) => [name, url] as const);
  const others = Object.entries(extra ?? {}).filter(([name]) => !links.some(([own]) => own === name));
  return Object.fromEntries(url === undefined ? others : [...others, ...links]);
}

/** Most characters of a link to an image, as of a URI that is fetched. */
const LINK_CHARS_MAX = 2048;

/** Link to an image on the web; undefined for other schemes, and for hosts and ports that are not fetched from. */
export function webLinkOf(image: string): string | undefined {
  const url = image.length > LINK_CHARS_MAX ? null : URL.parse(image.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  // Addresses may be private; names without a dot are of the own network.
  const isName = isIP(url.hostname.replace(/^\[(.*)\]$/, '$1')) === 0 && url.hostname.includes('.');
  const isPlain = url.username === '' && url.password === '' && ['', '80', '443'].includes(url.port);
  return isName && isPlain ? url.href : undefined;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
