import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import type { PartialTransactionJson } from './transaction-json.ts';
import { viewBytes } from '../request/scalars.ts';

// Transactions and their heads in the form that crosses a thread border. The bytes are in a single buffer, which is transferred and not
// copied.

const HASH_BYTES = 32;

/** Columns that a head is rendered from. */
export type RenderRow = Pick<
  FoundTransaction,
  'hash' | 'trace_id' | 'boc' | 'workchain' | 'shard' | 'seqno' | 'mc_seqno' | 'global_version'
>;

type Block = Pick<RenderRow, 'workchain' | 'shard' | 'seqno' | 'mc_seqno' | 'global_version'>;

export type RenderJob = {
  readonly rows: readonly (Block & { readonly bocBytes: number })[];
  /** Hash, trace id and bag of cells of each transaction. */
  readonly bytes: Uint8Array<ArrayBuffer>;
};

export function packRows(rows: readonly RenderRow[]): RenderJob {
  const bytes = new Uint8Array(rows.reduce((sum, { boc }) => sum + 2 * HASH_BYTES + boc.length, 0));
  let at = 0;
  for (const { hash, trace_id: traceId, boc } of rows) {
    bytes.set(hash, at);
    bytes.set(traceId, at + HASH_BYTES);
    bytes.set(boc, at + 2 * HASH_BYTES);
    at += 2 * HASH_BYTES + boc.length;
  }
  return {
    rows: rows.map(({ workchain, shard, seqno, mc_seqno, global_version, boc }) => ({
      workchain,
      shard,
      seqno,
      mc_seqno,
      global_version,
      bocBytes: boc.length,
    })),
    bytes,
  };
}

export function unpackRows({ rows, bytes }: RenderJob): readonly RenderRow[] {
  const take = takerOf(bytes);
  return rows.map(({ bocBytes, ...block }) => ({
    ...block,
    hash: take(HASH_BYTES),
    trace_id: take(HASH_BYTES),
    boc: take(bocBytes),
  }));
}

export type RenderResult = {
  readonly heads: readonly { readonly tookOne: boolean; readonly sent: number; readonly textBytes: number }[];
  /** Hashes of the inbound and the sent messages of each transaction, and its text. */
  readonly bytes: Uint8Array<ArrayBuffer>;
};

export function packResults(heads: readonly PartialTransactionJson[]): RenderResult {
  const shapes = heads.map(({ in_msg, out_msgs, pieces }) => ({
    tookOne: in_msg !== null,
    sent: out_msgs.length,
    textBytes: pieces.reduce((sum, piece) => sum + piece.length, 0),
  }));
  const length = shapes.reduce((sum, one) => sum + messagesOf(one) * HASH_BYTES + one.textBytes, 0);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const { in_msg, out_msgs, pieces } of heads) {
    for (const { hash } of in_msg === null ? out_msgs : [in_msg, ...out_msgs]) at += bytes.write(hash, at, 'base64');
    for (const piece of pieces) at += piece.copy(bytes, at);
  }
  return { heads: shapes, bytes };
}

export function unpackResults({ heads, bytes }: RenderResult): readonly PartialTransactionJson[] {
  const take = takerOf(bytes);
  return heads.map(({ tookOne, sent, textBytes }) => {
    const message = (): { readonly hash: string } => ({ hash: viewBytes(take(HASH_BYTES)) });
    const in_msg = tookOne ? message() : null;
    return { in_msg, out_msgs: Array.from({ length: sent }, message), pieces: [take(textBytes)] };
  });
}

const messagesOf = ({ tookOne, sent }: RenderResult['heads'][number]): number => (tookOne ? 1 : 0) + sent;

/** Cuts bytes into consecutive pieces. */
function takerOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): (length: number) => Buffer {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  let at = 0;
  return (length) => bytes.subarray(at, (at += length));
}
