import type { Pacer } from '../contract/paced.ts';
import type { TextSlab } from '../contract/text-slab.ts';
import type { CellStore } from '../decode/cell-store.ts';
import type { TreeTransaction } from './trace-tree.ts';
import { openMessages, viewHead, type ShownTransaction } from './transaction-views.ts';

/** A rendered transaction without its account's states: its cells are no longer needed. */
export type TransactionHead = Pick<TreeTransaction, 'in_msg' | 'out_msgs'> & {
  /** JSON of an object, without its closing brace, in UTF-8. */
  readonly pieces: readonly Buffer[];
};

/** Resources for rendering the transactions of an answer. */
export type Desk = {
  /** Asked between messages. */
  readonly pacer: Pacer;
  /** Receives cells that rendering has to build. */
  readonly store: CellStore;
  readonly slab: TextSlab;
};

/** A message becomes text as soon as it is viewed. A transaction may have hundreds, and only one view is in memory. */
export async function writeHead(shown: ShownTransaction, { pacer, store, slab }: Desk): Promise<TransactionHead> {
  const { taken, sent } = openMessages(shown, store);
  const out_msgs: TransactionHead['out_msgs'][number][] = [];
  const pieces: Buffer[] = [];
  let text = `${JSON.stringify({ ...viewHead(shown), in_msg: taken }).slice(0, -1)},"out_msgs":[`;
  for (const message of sent) {
    text += `${out_msgs.length === 0 ? '' : ','}${JSON.stringify(message)}`;
    out_msgs.push({ hash: message.hash });
    if (text.length > PIECE_LENGTH) {
      pieces.push(slab.place(text));
      text = '';
    }
    const rest = pacer.pause();
    if (rest !== undefined) await rest;
  }
  pieces.push(slab.place(`${text}]`));
  return { in_msg: taken && { hash: taken.hash }, out_msgs, pieces };
}

/** Characters per write to the slab. */
const PIECE_LENGTH = 16_384;
