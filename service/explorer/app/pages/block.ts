import type { VNode } from 'preact';

import { BlockTransactions, Shards } from '../block/lists.ts';
import { loadBlock, type BlockAndNext } from '../block/load-block.ts';
import { BlockProof } from '../block/proof.ts';
import { useApplication } from '../context.ts';
import { formatCount, safeText } from '../format.ts';
import { html } from '../html.ts';
import type { Block, BlockRef } from '../objects.ts';
import { BlockLink } from '../parts/block-link.ts';
import { Facts } from '../parts/facts.ts';
import { Hash } from '../parts/hash.ts';
import { Json } from '../parts/json.ts';
import { Loaded } from '../parts/loaded.ts';
import { Time } from '../parts/time.ts';
import type { Route } from '../paths.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

/** A block: header, transactions, shards, and what proves it. */
export function BlockPage({ route }: { readonly route: Extract<Route, { page: 'block' }> }) {
  const { api } = useApplication();
  const { workchain, shard, seqno } = route;
  const load = useLoad<BlockAndNext>(`block ${workchain} ${shard} ${seqno}`, async (signal) =>
    loadBlock(api, route, signal),
  );
  return html`<h1>
      ${workchain === -1 ? words.block.masterchain : words.block.shardBlock} ${formatCount(seqno)}${' '}
      <small class="mono faint">${workchain}:${shard}:${seqno}</small>
    </h1>
    <${Loaded} load=${load} draw=${(found: BlockAndNext) => html`<${Whole} found=${found} />`} />`;
}

function Whole({ found: { block, next } }: { readonly found: BlockAndNext }) {
  const { settings } = useApplication();
  const names = words.block;
  return html`<${Header} block=${block} next=${next} />
    ${
      block.workchain === -1
        ? html`<h2>${names.shards}</h2>
            <${Shards} seqno=${block.seqno} />`
        : null
    }
    <h2>${words.columns.count}</h2>
    <${BlockTransactions} block=${block} />
    ${
      settings.surfaces.includes('v2')
        ? html`<h2>${names.proof.title}</h2>
            <${BlockProof} block=${block} />`
        : null
    }
    <${Json} value=${block} />`;
}

function Header({ block, next }: { readonly block: Block; readonly next: readonly BlockRef[] }) {
  const names = words.block;
  const master = block['masterchain_block_ref'] as BlockRef | null | undefined;
  return html`<${Facts}
    rows=${[
      [words.columns.time, html`<${Time} at=${Number(block.gen_utime)} withAge />`],
      [words.columns.count, block.tx_count === null ? undefined : formatCount(block.tx_count)],
      [names.previous, links(block.prev_blocks ?? [])],
      [names.next, next.length === 0 ? names.noNext : links(next)],
      [names.master, master === null || master === undefined || block.workchain === -1 ? undefined : links([master])],
      [names.rootHash, html`<${Hash} hash=${block.root_hash} />`],
      [names.fileHash, html`<${Hash} hash=${block.file_hash} />`],
      [names.lts, html`<span class="number">${block.start_lt} – ${block.end_lt}</span>`],
      [names.keyBlock, block['key_block'] === true ? words.parts.yes : words.parts.no],
      [names.previousKey, count(block['prev_key_block_seqno'])],
      [names.creator, hash(block['created_by'])],
      [names.seed, hash(block['rand_seed'])],
      [names.catchain, count(block['gen_catchain_seqno'])],
      [
        names.validators,
        typeof block['validator_list_hash_short'] === 'number' ? String(block['validator_list_hash_short']) : undefined,
      ],
      [names.minReferred, count(block['min_ref_mc_seqno'])],
      [names.changes, changes(block)],
      [names.globalId, typeof block['global_id'] === 'number' ? String(block['global_id']) : undefined],
    ]}
  />`;
}

const links = (blocks: readonly BlockRef[]): VNode =>
  html`${blocks.map((block, at) => html`<div key=${at}><${BlockLink} block=${block} /></div>`)}`;

const count = (value: unknown): string | undefined => (typeof value === 'number' ? formatCount(value) : undefined);

const hash = (value: unknown): VNode | undefined =>
  typeof value === 'string' ? html`<${Hash} hash=${safeText(value, 100)} />` : undefined;

/** Marks of splits and merges that the block has. */
function changes(block: Block): string | undefined {
  const marks = ['after_merge', 'after_split', 'before_split', 'want_merge', 'want_split'] as const;
  const set = marks.filter((mark) => block[mark] === true).map((mark) => mark.replaceAll('_', ' '));
  return set.length === 0 ? undefined : set.join(', ');
}
