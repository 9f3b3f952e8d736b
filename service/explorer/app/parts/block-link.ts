import { html } from '../html.ts';
import type { BlockRef } from '../objects.ts';
import { paths } from '../paths.ts';

/** A link to a block in the form `workchain:shard:seqno`. */
export function BlockLink({ block }: { readonly block: BlockRef }) {
  const { workchain, shard, seqno } = block;
  const digits = shard.toLowerCase().padStart(16, '0');
  return html`<a class="mono" href=${paths.block(workchain, digits, seqno)}>${workchain}:${digits}:${seqno}</a>`;
}
