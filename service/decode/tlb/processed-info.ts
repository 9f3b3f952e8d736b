import type { BitWriter } from '../bit-writer.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { updateHashmap } from '../hashmap-writer.ts';
import { walkHashmap } from '../hashmap.ts';

/** Progress of a shard in processing other shards' queues as of a masterchain block. */
export type ProcessedUpto = {
  /** Unsigned 64 bits: the shard of the accounts concerned. It is the state's own shard or an older one that covered it. */
  readonly shard: bigint;
  readonly masterchainSeqno: number;
  /** Last processed message. Messages of equal lt and greater hash are not processed. */
  readonly lt: bigint;
  readonly hash: Buffer;
};

const KEY_BITS = 96;

/** `_ (HashmapE 96 ProcessedUpto) = ProcessedInfo`, keyed `shard:uint64 mc_seqno:uint32`; `processed_upto$_ last_msg_lt:uint64 last_msg_hash:bits256`. */
export function listProcessedUpto(table: CellTable, root: number | undefined): ProcessedUpto[] {
  const list: ProcessedUpto[] = [];
  walkHashmap(table, root, KEY_BITS, (key, value) => {
    const [lt, hash] = [value.uint64(), value.hash()];
    list.push({ shard: key.readBigUInt64BE(0), masterchainSeqno: key.readUInt32BE(8), lt, hash });
  });
  return list;
}

/** The reverse of `listProcessedUpto`: the dictionary's root. */
export function storeProcessedInfo(store: CellStore, list: readonly ProcessedUpto[]): number | undefined {
  const changes = list.map(({ shard, masterchainSeqno, lt, hash }) => {
    const key = Buffer.alloc(12);
    key.writeBigUInt64BE(shard);
    key.writeUInt32BE(masterchainSeqno, 8);
    return { key, write: (writer: BitWriter): void => void writer.int(lt, 64).bytes(hash) };
  });
  return updateHashmap(store, undefined, { bits: KEY_BITS }, changes);
}
