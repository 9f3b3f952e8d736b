import { named, object, optional, scalar, type Infer } from '#service/contract/shape.ts';
import type { TokenRow } from '#service/store/queries/metadata.ts';
import {
  outsideOf,
  sayEnough,
  webLinkOf,
  withImageLinks,
  wordsOf,
  type TokenWords,
} from '#service/store/token-content.ts';
import { anyText, flag, intString } from '../request/scalars.ts';

/** Metadata of a token (service/v3/README.md#metadata). */
export const tokenInfo = named(
  'TokenInfo',
  object({
    valid: optional(flag),
    type: optional(anyText),
    name: optional(anyText),
    symbol: optional(anyText),
    description: optional(anyText),
    image: optional(anyText),
    nft_index: optional(intString),
    is_nsfw: optional(flag),
    is_scam: optional(flag),
    extra: optional(scalar<Readonly<Record<string, unknown>>>({ type: 'object' })),
  }),
);

export type TokenInfo = Infer<typeof tokenInfo>;

/** Metadata of a token, and whether it is final. */
export type DescribedToken = { readonly info: TokenInfo; readonly isIndexed: boolean };

/**
 * Seconds until content outside of the chain is to be fetched. 0 if it was never fetched, below 0 if it is stale, undefined without such
 * content.
 */
export function fetchedInSeconds({ metadata: row, content, fresh_seconds: fresh }: TokenRow): number | undefined {
  if (row !== null) return fresh ?? undefined;
  return outsideOf(content ?? {}) === undefined ? undefined : 0;
}

/**
 * A token without a row and with all metadata on the chain is final, same as a token with a row. A token with content outside has its
 * metadata from the chain at first. Metadata from the chain takes precedence over content from outside.
 */
export function describeToken({
  type,
  index,
  metadata: row,
  content,
}: Omit<TokenRow, 'address' | 'fresh_seconds'>): DescribedToken {
  const words = row === null ? wordsOf(content ?? {}) : { ...row, extra: row.extra ?? {} };
  const isIndexed = row !== null || outsideOf(content ?? {}) === undefined;
  const valid = row?.valid ?? (isIndexed ? sayEnough(type, words) : undefined);
  const isShown = valid ?? !isOnlyLink(words);
  const extra = isShown ? viewExtra(words) : {};
  return {
    isIndexed,
    info: {
      ...(valid !== undefined && { valid }),
      type,
      ...(isShown && viewWords(words)),
      ...(index !== null && { nft_index: index.toString() }),
      // This service does not mark tokens.
      ...(valid === true && { is_nsfw: false, is_scam: false }),
      ...(Object.keys(extra).length > 0 && { extra }),
    },
  };
}

/** True for metadata with a link and nothing else. */
function isOnlyLink({ extra, ...words }: TokenWords): boolean {
  const isNothing = Object.values(words).every((word) => word === null);
  return isNothing && Object.keys(extra).every((name) => name === 'uri' || name === 'url');
}

function viewWords({ name, symbol, description, image }: TokenWords): TokenInfo {
  return {
    ...(name !== null && { name }),
    ...(symbol !== null && { symbol }),
    ...(description !== null && { description }),
    ...(image !== null && { image }),
  };
}

/** Links to an image in IPFS are among the fetched data. */
function viewExtra({ image, extra }: TokenWords): Readonly<Record<string, unknown>> {
  const link = image === null ? undefined : webLinkOf(image);
  return link === undefined ? (extra ?? {}) : withImageLinks(extra, link);
}

/** @param wallet raw addresses */
export function describeWallet({ owner, jetton }: WalletParties, balance: bigint): TokenInfo {
  return { valid: true, type: 'jetton_wallets', extra: { owner, jetton, balance: balance.toString() } };
}

/** Owner and master of a jetton wallet: raw addresses. */
export type WalletParties = { readonly owner: string; readonly jetton: string };
