import { markFlat, writePaced, type Pacer } from '../contract/paced.ts';
import type { TextSlab } from '../contract/text-slab.ts';
import type { CellStore } from '../decode/cell-store.ts';
import type { TreeTransaction } from './trace-tree.ts';
import { viewHead, viewMessages, type ShownTransaction } from './transaction-views.ts';

/** All of a transaction but what the states of its account say: its cells are not needed any more. */
export type TransactionHead = Pick<TreeTransaction, 'in_msg' | 'out_msgs'> & {
  /** JSON of an object, without its closing brace, in UTF-8. */
  readonly pieces: readonly Buffer[];
};

/** What the transactions of one answer are written with. */
export type Desk = {
  readonly pacer: Pacer;
  /** Takes cells that have to be made to show them. */
  readonly store: CellStore;
  readonly slab: TextSlab;
};

export async function writeHead(shown: ShownTransaction, { pacer, store, slab }: Desk): Promise<TransactionHead> {
  const view = { ...viewHead(shown), ...(await viewMessages(shown, pacer, store)) };
  const { in_msg, out_msgs } = view;
  const text = out_msgs.length <= SENT_AT_ONCE ? JSON.stringify(view) : await writePaced(markFlat(view), pacer);
  const pieces = typeof text === 'string' ? [slab.place(text)] : text;
  return {
    in_msg: in_msg && { hash: in_msg.hash },
    out_msgs: out_msgs.map(({ hash }) => ({ hash })),
    pieces: [...pieces.slice(0, -1), pieces.at(-1)!.subarray(0, -1)],
  };
}

/** Messages of a transaction that are written at once: decoded, each is some milliseconds of JSON at most. */
const SENT_AT_ONCE = 3;
