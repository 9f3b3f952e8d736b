import type { TimeSlice } from '#service/runtime/time-slice.ts';
import type { Utf8Buffer } from '#service/runtime/utf8-buffer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { TreeTransaction } from '../views/trace-tree.ts';
import { openMessages, viewHead, type ShownTransaction } from '../views/transaction-views.ts';

/** A rendered transaction without its account's states: its cells are no longer needed. */
export type PartialTransactionJson = Pick<TreeTransaction, 'in_msg' | 'out_msgs'> & {
  /** JSON of an object, without its closing brace, in UTF-8. */
  readonly pieces: readonly Buffer[];
  /** Account of the transaction and both ends of its messages, same as `addressesOf` of the rendered transaction. */
  readonly accounts: readonly string[];
};

/** Resources for rendering the transactions of an answer. */
export type RenderContext = {
  /** Asked between messages. */
  readonly timeSlice: TimeSlice;
  /** Receives cells that rendering has to build. */
  readonly store: CellStore;
  readonly slab: Utf8Buffer;
  /** Takes the bytes of texts (reader.ts). */
  readonly takeBytes: StoreReader['takeBytes'];
};

/** A message becomes text as soon as it is viewed. A transaction may have hundreds, and only one view is in memory. */
export async function renderPartial(
  shown: ShownTransaction,
  { timeSlice, store, slab, takeBytes }: RenderContext,
): Promise<PartialTransactionJson> {
  const { taken, sent } = openMessages(shown, store);
  const head = viewHead(shown);
  const accounts = [head.account];
  if (taken !== null && taken.source !== null) accounts.push(taken.source);
  const out_msgs: PartialTransactionJson['out_msgs'][number][] = [];
  const pieces: Buffer[] = [];
  const place = (text: string): void => {
    const piece = slab.place(text);
    takeBytes?.(piece.length);
    pieces.push(piece);
  };
  let text = `${JSON.stringify({ ...head, in_msg: taken }).slice(0, -1)},"out_msgs":[`;
  for (const message of sent) {
    text += `${out_msgs.length === 0 ? '' : ','}${JSON.stringify(message)}`;
    out_msgs.push({ hash: message.hash });
    if (message.destination !== null) accounts.push(message.destination);
    if (text.length > PIECE_LENGTH) {
      place(text);
      text = '';
    }
    const rest = timeSlice.pause();
    if (rest !== undefined) await rest;
  }
  place(`${text}]`);
  return { in_msg: taken && { hash: taken.hash }, out_msgs, pieces, accounts };
}

/** Characters per write to the slab. */
const PIECE_LENGTH = 16_384;
