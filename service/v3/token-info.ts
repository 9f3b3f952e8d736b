import { named, object, optional, scalar, type Infer } from '../contract/shape.ts';
import type { TokenRow } from '../store/queries/metadata.ts';
import { outsideOf, sayEnough, wordsOf, type TokenWords } from '../store/token-content.ts';
import { anyText, flag, intString } from './scalars.ts';

/** What one token says of itself (service/v3/README.md#metadata). */
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

/** What is told of a token, and whether that is all that will be known of it. */
export type DescribedToken = { readonly info: TokenInfo; readonly isIndexed: boolean };

/** Seconds until what is outside of the chain is to be fetched: 0 where nobody has asked for it, below 0 where that was long ago, undefined where nothing is there. */
export function fetchedInSeconds({ metadata: row, content, fresh_seconds: fresh }: TokenRow): number | undefined {
  if (row !== null) return fresh ?? undefined;
  return outsideOf(content ?? {}) === undefined ? undefined : 0;
}

/**
 * A token without a row whose words are all on the chain is as good as one with it: nothing else will ever be known of it. Of one that keeps some
 * outside, those on the chain are told meanwhile: they win over what comes from there.
 */
export function describeToken({ type, index, metadata: row, content }: TokenRow): DescribedToken {
  const words = row === null ? wordsOf(content ?? {}) : { ...row, extra: row.extra ?? {} };
  const isIndexed = row !== null || outsideOf(content ?? {}) === undefined;
  const valid = row?.valid ?? (isIndexed ? sayEnough(type, words) : undefined);
  const isShown = valid ?? !isOnlyLink(words);
  return {
    isIndexed,
    info: {
      ...(valid !== undefined && { valid }),
      type,
      ...(isShown && viewWords(words)),
      ...(index !== null && { nft_index: index.toString() }),
      // Nobody marks tokens here.
      ...(valid === true && { is_nsfw: false, is_scam: false }),
      ...(isShown && { extra: words.extra }),
    },
  };
}

/** Says nothing but where to look. */
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

/** @param wallet raw addresses */
export function describeWallet({ owner, jetton }: WalletParties, balance: bigint): TokenInfo {
  return { valid: true, type: 'jetton_wallets', extra: { owner, jetton, balance: balance.toString() } };
}

/** Whose jetton wallet it is, and of which master: raw addresses. */
export type WalletParties = { readonly owner: string; readonly jetton: string };
