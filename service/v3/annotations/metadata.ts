import { writeTexts, RawJson } from '#service/contract/json-stream.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { list, map, named, object, type Infer, type Shape } from '#service/contract/shape.ts';
import { formatRawAddress, parseAddress } from '#service/decode/address.ts';
import type { AccountLabel, FoundAccounts, AccountLabelCache } from './account-label-cache.ts';
import type { DescribedAccount, TokenInfoCache } from './token-info-cache.ts';
import { defineV3Operation, type V3Context, type V3Operation } from '../request/operation.ts';
import { texts } from '../request/parameters.ts';
import { requiredList } from '../request/required-parameters.ts';
import { flag, rawAddress } from '../request/scalars.ts';
import { tokenInfo } from '../views/token-info.ts';

const addressMetadata = named('AddressMetadata', object({ is_indexed: flag, token_info: list(tokenInfo) }));

/** Metadata of the tokens among some accounts, by raw address (service/v3/README.md#metadata). */
export type Metadata = RawJson<Record<string, Infer<typeof addressMetadata>>>;

const { schema, definitions } = named('Metadata', map(addressMetadata, rawAddress));

export const metadata: Shape<Metadata> = { schema, definitions };

/** Parts of a request that notes depend on. */
export type NotesContext = Pick<V3Context, 'store' | 'settings'>;

/** Tokens that are being read. */
export type BegunTokens = { readonly raws: readonly string[]; readonly found: ReturnType<TokenInfoCache['find']> };

/** Tokens that need no further read. */
export type KnownTokens = {
  readonly begun?: BegunTokens | undefined;
  readonly simulated?: ReadonlyMap<string, DescribedAccount> | undefined;
};

/** Metadata for answers. */
export type TokenMetadata = {
  /**
   * Metadata of an answer, in the order of its accounts; empty when the caller excludes it.
   * @param known `begun`: reads of tokens that are among them. `simulated`: tokens by raw address, shown where the index has none
   */
  metadataOf(found: FoundAccounts, context: NotesContext, known?: KnownTokens): Promise<Metadata>;
  /**
   * Starts to read tokens in parallel with other reads of the answer. @param raws their raw addresses; undefined when the caller excludes
   * metadata
   */
  begin(raws: readonly string[], context: NotesContext): BegunTokens | undefined;
  readonly operations: readonly V3Operation[];
};

export type TokenMetadataDependencies = {
  readonly accounts: AccountLabelCache;
  readonly tokens: TokenInfoCache;
};

export function createTokenMetadata({ accounts, tokens }: TokenMetadataDependencies): TokenMetadata {
  async function read(
    among: FoundAccounts,
    store: V3Context['store'],
    { begun, simulated }: KnownTokens = {},
  ): Promise<Metadata> {
    const raws = [...tokensAmong(among)];
    // The accounts may include tokens that were unknown at the start.
    const areAll = begun?.raws.length === raws.length && raws.every((raw, at) => raw === begun.raws[at]);
    const found = areAll ? begun.found : tokens.find(raws, store);
    const indexed = await found;
    const missing = [...(simulated ?? [])].filter(([raw]) => !indexed.has(raw));
    return writeTexts(viewTokens(new Map([...indexed, ...missing])), createTimeSlice(store.signal));
  }

  return {
    metadataOf: async (found, { store, settings }, known) =>
      settings.metadata ? read(found, store, known) : emptyMetadata,
    begin(raws, { store, settings }) {
      if (!settings.metadata) return undefined;
      const found = tokens.find(raws, store);
      // The caller of `found` receives the error; without a caller it is ignored.
      found.catch(() => {});
      return { raws, found };
    },
    operations: [
      defineV3Operation({
        name: 'metadata',
        tag: 'accounts',
        summary: 'Data of the tokens among some accounts.',
        parameters: { addresses: requiredList(texts('address'), 'at least 1 address required') },
        result: metadata,
        flat: true,
        handle: async ({ addresses }, { store }) => read(await accounts.find(addresses, store), store),
      }),
    ],
  };
}

export const emptyMetadata: Metadata = new RawJson(['{}']);

/** Raw addresses of the tokens. */
function* tokensAmong(accounts: Iterable<readonly [text: string, note: AccountLabel | undefined]>): Generator<string> {
  for (const [text, note] of accounts) {
    if (note?.isToken === true) yield formatRawAddress(parseAddress(text, { anyTag: true })!, 'upper');
  }
}

function* viewTokens(tokens: ReadonlyMap<string, DescribedAccount>): Generator<readonly [name: string, json: string]> {
  for (const [raw, { isIndexed, infos }] of tokens) yield [raw, `{"is_indexed":${isIndexed},"token_info":[${infos}]}`];
}
