import { formatCount } from '../format.ts';
import { html } from '../html.ts';
import type { Block } from '../objects.ts';
import { words } from '../texts.ts';
import { BlockLink } from './block-link.ts';
import { Time } from './time.ts';

/** Blocks as a table. @param isQuiet a heading above says the same as the caption */
export function BlockTable({
  blocks,
  caption,
  isQuiet = false,
}: {
  readonly blocks: readonly Block[];
  readonly caption: string;
  readonly isQuiet?: boolean;
}) {
  return html`<table class=${isQuiet ? 'quiet' : ''}>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">${words.columns.seqno}</th>
        <th scope="col">${words.columns.time}</th>
        <th scope="col" class="number">${words.columns.count}</th>
      </tr>
    </thead>
    <tbody>
      ${blocks.map(
        (block) =>
          html`<tr key="${block.workchain} ${block.shard} ${block.seqno}">
            <td><${BlockLink} block=${block} /></td>
            <td><${Time} at=${Number(block.gen_utime)} /></td>
            <td class="number">${block.tx_count === null ? '–' : formatCount(block.tx_count)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
