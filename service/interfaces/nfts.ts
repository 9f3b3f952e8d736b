import { readStoredContent } from '../live/tokens/token-content.ts';
import type { StackCell, StackEntry } from '../tvm/stack.ts';
import { isNamed } from './address-entry.ts';
import { readDomain } from './domains.ts';
import type { Answers, Family, Subject, DetectionContext } from './family.ts';
import { keyOrNull, rawOrNull } from './raw-address.ts';
import { accountOrNone, cell, flag, int, stackShape } from './stack-shape.ts';

type Content = Readonly<Record<string, string>>;

const collectionData = stackShape({ nextItemIndex: int, content: cell, owner: accountOrNone });

const itemData = stackShape({ init: flag, index: int, collection: accountOrNone, owner: accountOrNone, content: cell });

const contentData = stackShape({ content: cell });

/** TEP-62. */
export const nftCollections: Family = {
  kind: 'nft_collection',
  needs: ['get_collection_data'],
  detect({ key, state, answers }) {
    const data = collectionData(answers('get_collection_data'));
    if (data === undefined) return 'malformed';
    const { nextItemIndex, owner } = data;
    const row = {
      address: key,
      next_item_index: nextItemIndex,
      owner: keyOrNull(owner),
      content: contentOf(data),
      ...state,
    };
    return { nftCollection: row };
  },
};

/** TEP-62, and TEP-81 for items that are domains. Anyone can deploy a contract that claims to be an item, so its collection has to confirm it. */
export const nftItems: Family = {
  kind: 'nft_item',
  needs: ['get_nft_data'],
  asks: ['get_domain', 'get_full_domain', 'dnsresolve'],
  async detect(subject, around) {
    const data = itemData(subject.answers('get_nft_data'));
    if (data === undefined) return 'malformed';
    const { init, index, collection, owner } = data;
    const own = collection === null ? contentOf(data) : await readFromCollection(subject, data, around);
    if (own === undefined) return 'unconfirmed';
    const zone = collection === null ? undefined : await around.zoneOf(collection);
    const domain = zone === undefined ? undefined : readDomain(zone, subject.answers);
    const content = domain === undefined ? own : { ...own, domain: domain.name };
    const { key, state } = subject;
    const [ownerKey, codeHash] = [keyOrNull(owner), state.code_hash.toString('base64')];
    const nftItem = {
      address: key,
      init,
      index,
      collection: keyOrNull(collection),
      owner: ownerKey,
      content,
      ...state,
    };
    const info = { index, collection: rawOrNull(collection), owner: rawOrNull(owner), content, codeHash };
    const { last_trans_lt } = state;
    const entry = domain?.records && {
      nft_item: key,
      nft_item_owner: ownerKey,
      domain: domain.name,
      ...domain.records,
    };
    return {
      nftItem,
      ...(entry !== undefined && { dnsEntry: { ...entry, last_trans_lt } }),
      facts: { nftItem: info },
    };
  },
};

/** Content outside of TEP-64 is empty: the rule of jettons, here and in v2. */
function contentOf({ content }: { readonly content: StackCell }): Content {
  return readStoredContent(content) ?? {};
}

/** Reads an item's content from its collection, which combines it with the item's own part. Undefined if the collection does not know the item. */
async function readFromCollection(
  { account }: Subject,
  { collection, index, content }: ItemData,
  around: DetectionContext,
): Promise<Content | undefined> {
  const numbered: StackEntry = { type: 'int', value: index };
  return around.consult({
    by: collection!,
    about: `${index} ${hashOf(content)}`,
    asks: [
      { method: 'get_nft_address_by_index', stack: [numbered] },
      { method: 'get_nft_content', stack: [numbered, { type: 'cell', ...content }] },
    ],
    read: (said: Answers) => {
      const whole = contentData(said('get_nft_content'));
      const isKnown = isNamed(said('get_nft_address_by_index'), account);
      return isKnown && whole !== undefined ? contentOf(whole) : undefined;
    },
    weigh: (known) => Object.values(known ?? {}).reduce((sum, text) => sum + text.length, 0),
  });
}

type ItemData = NonNullable<ReturnType<typeof itemData>>;

function hashOf({ table, cell: root }: StackCell): string {
  return table.hash(root).toString('base64');
}
