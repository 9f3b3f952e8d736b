import { mapPaced } from '../contract/paced.ts';
import { list, map, named, object, optional, scalar, type Infer } from '../contract/shape.ts';
import { parseAddress } from '../decode/address.ts';
import { accountKey } from '../store/account-key.ts';
import { readTokens, type TokenRow, type WalletRow } from '../store/queries/metadata.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { outsideOf, sayEnough, wordsOf, type TokenName, type TokenWords } from '../store/token-content.ts';
import { keyText } from './account-rows.ts';
import type { AccountNote, FoundAccounts, KnownAccounts } from './known-accounts.ts';
import { defineV3Operation, type V3Context, type V3Operation } from './operation.ts';
import { texts } from './parameters.ts';
import { requiredList } from './required-parameters.ts';
import { anyText, flag, intString, rawAddress, viewAccountKey } from './scalars.ts';

const tokenInfo = named(
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

type TokenInfo = Infer<typeof tokenInfo>;

/** What the tokens among some accounts say of themselves, by raw address (v3 sheet 5.2). */
export const metadata = named(
  'Metadata',
  map(named('AddressMetadata', object({ is_indexed: flag, token_info: list(tokenInfo) })), rawAddress),
);

export type Metadata = Infer<typeof metadata>;

/** Metadata for answers. */
export type TokenMetadata = {
  /**
   * The metadata of an answer, in the order of its accounts; empty when the caller wants none.
   */
  metadataOf(found: FoundAccounts, context: Pick<V3Context, 'store' | 'settings'>): Promise<Metadata>;
  readonly operations: readonly V3Operation[];
};

export type TokenMetadataDependencies = {
  readonly accounts: KnownAccounts;
  /** Is told which tokens' words are outside of the chain and not here, or old; absent where nobody fetches them. Never throws, never waits. */
  readonly wanted?: ((tokens: readonly TokenName[]) => void) | undefined;
};

/** Accounts looked up at once: some milliseconds of work, between which other requests run. */
const ACCOUNTS_AT_ONCE = 1000;

export function createTokenMetadata({ accounts, wanted }: TokenMetadataDependencies): TokenMetadata {
  async function readPart(keys: ReadonlyMap<string, Buffer>, store: StoreReader): Promise<Map<string, Described[]>> {
    const rows = await readTokens(store, [...keys.values()]);
    const missing = rows.filter((row) => row.type !== 'jetton_wallets').filter(isToBeFetched);
    if (missing.length > 0) wanted?.(missing);
    const all = rows.map((row) => (row.type === 'jetton_wallets' ? describeWallet(row) : describeToken(row)));
    return Map.groupBy(all, ({ key }) => key);
  }

  async function read(among: FoundAccounts, store: StoreReader): Promise<Metadata> {
    const keys = [...new Map((await mapPaced(among, keyOf)).flat())];
    const found = new Map<string, Described[]>();
    for (let at = 0; at < keys.length; at += ACCOUNTS_AT_ONCE) {
      const part = await readPart(new Map(keys.slice(at, at + ACCOUNTS_AT_ONCE)), store);
      for (const [key, described] of part) found.set(key, described);
    }
    const inOrder = new Set([...keys.map(([key]) => key), ...found.keys()]);
    return Object.fromEntries(
      [...inOrder].flatMap((key) => {
        const described = found.get(key);
        return described === undefined ? [] : [[viewAccountKey(Buffer.from(key, 'latin1')), viewDescribed(described)]];
      }),
    );
  }

  return {
    metadataOf: async (found, { store, settings }) => (settings.metadata ? read(found, store) : {}),
    operations: [
      defineV3Operation({
        name: 'metadata',
        tag: 'accounts',
        summary: 'What the tokens among some accounts say of themselves.',
        parameters: { addresses: requiredList(texts('address'), 'at least 1 address required') },
        result: metadata,
        flat: true,
        handle: async ({ addresses }, { store }) => read(await accounts.find(addresses, store), store),
      }),
    ],
  };
}

/** Of one that is a token. */
function keyOf([text, note]: readonly [text: string, note: AccountNote | undefined]): [text: string, key: Buffer][] {
  if (note?.isToken !== true) return [];
  const key = accountKey(parseAddress(text, { anyTag: true })!);
  return [[keyText(key), key]];
}

/** One of the things that an account is. */
type Described = { readonly key: string; readonly isIndexed: boolean; readonly info: TokenInfo };

/** What is outside of the chain and was never asked for, or long ago. */
function isToBeFetched({ metadata: row, content, is_stale: isStale }: TokenRow): boolean {
  return row === null ? outsideOf(content ?? {}) !== undefined : isStale;
}

/**
 * A token without a row whose words are all on the chain is as good as one with it: nothing else will ever be known of it. Of one that keeps some
 * outside, those on the chain are told meanwhile: they win over what comes from there.
 */
function describeToken({ address, type, index, metadata: row, content }: TokenRow): Described {
  const words = row === null ? wordsOf(content ?? {}) : { ...row, extra: row.extra ?? {} };
  const isIndexed = row !== null || outsideOf(content ?? {}) === undefined;
  const valid = row?.valid ?? (isIndexed ? sayEnough(type, words) : undefined);
  const isShown = valid ?? !isOnlyLink(words);
  return {
    key: keyText(address),
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

function describeWallet({ address, owner, jetton, balance }: WalletRow): Described {
  const extra = { owner: viewAccountKey(owner), jetton: viewAccountKey(jetton), balance: balance.toString() };
  return { key: keyText(address), isIndexed: true, info: { valid: true, type: 'jetton_wallets', extra } };
}

function viewDescribed(described: readonly Described[]): Metadata[string] {
  return {
    is_indexed: described.every(({ isIndexed }) => isIndexed),
    token_info: described.map(({ info }) => info),
  };
}
