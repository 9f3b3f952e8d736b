import { accountOfKey } from '#service/store/account-key.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import type { Store } from '#service/store/store.ts';

/** A transaction of the recorded chain, as far as levels depend on it. */
export type RecordedTransaction = {
  /** Base64. */
  readonly hash: string;
  readonly account: string;
  readonly lt: bigint;
  readonly mcSeqno: number;
  readonly workchain: number;
  /** Block of its shard. */
  readonly shard: bigint;
  readonly seqno: number;
};

/** A trace of the recorded chain. */
export type RecordedChainTrace = {
  /** Base64. */
  readonly id: string;
  /** Hex: normalised hash of the external message, or the id. */
  readonly key: string;
  readonly isExternal: boolean;
  /** Masterchain block of its last transaction; undefined while a message is on its way at the end of the recording. */
  readonly end: number | undefined;
  /** Ordered by lt, then account. */
  readonly transactions: readonly RecordedTransaction[];
};

/** Traces of the index, by their own query: what streams say about them is compared with this. */
export async function readChainTraces(store: Store): Promise<readonly RecordedChainTrace[]> {
  type Row = { trace_id: Buffer; external_hash_norm: Buffer | null; state: number; mc_seqno_end: number };
  const traces = await store.read<Row>('SELECT trace_id, external_hash_norm, state, mc_seqno_end FROM traces');
  type Link = { hash: Buffer; account: Buffer; lt: bigint; mc_seqno: number; workchain: number; shard: bigint };
  const links = await store.read<Link & { seqno: number; trace_id: Buffer }>(
    'SELECT hash, account, lt, mc_seqno, workchain, shard, seqno, trace_id FROM transactions ORDER BY lt, account',
  );
  const byTrace = Map.groupBy(links, ({ trace_id: id }) => id.toString('base64'));
  return traces.map(({ trace_id: traceId, external_hash_norm: norm, state, mc_seqno_end: end }) => ({
    id: traceId.toString('base64'),
    key: (norm ?? traceId).toString('hex'),
    isExternal: norm !== null,
    end: state === 0 ? end : undefined,
    transactions: (byTrace.get(traceId.toString('base64')) ?? []).map((link) => ({
      hash: link.hash.toString('base64'),
      account: formatRawAddress(accountOfKey(link.account), 'upper'),
      lt: link.lt,
      mcSeqno: link.mc_seqno,
      workchain: link.workchain,
      shard: BigInt.asUintN(64, link.shard),
      seqno: link.seqno,
    })),
  }));
}
