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

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
