import { Address, beginCell, Cell, Dictionary, loadMessage, loadTransaction, storeMessage } from '@ton/core';
import type { Message } from '@ton/core';
import type { SourceBlocks } from '#service/indexer/source.ts';
import { accountOfKey } from '#service/store/account-key.ts';
import type { BlockRows, MessageRow } from '#service/store/tables.ts';
import { coreTransactionCells } from '#test/service/decode/core-block.ts';

// What rows must hold, by an independent pass with @ton/core, and rows in the same form: hashes as hex, addresses as raw text.

export type PlainTransaction = ReturnType<typeof coreTransaction>;
export type PlainMessage = ReturnType<typeof coreMessage>;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Every transaction of a masterchain block's blocks, with its messages. */
export function coreTransactions({ masterchain, shards }: SourceBlocks): PlainTransaction[] {
  return [masterchain, ...shards].flatMap(({ id, boc }) =>
    coreTransactionCells(Buffer.from(boc)).map((cell) => coreTransaction(cell, id.workchain, id.seqno)),
  );
}

function coreTransaction(cell: Cell, workchain: number, seqno: number) {
  const transaction = loadTransaction(cell.beginParse());
  const slice = cell.refs[0]!.beginParse();
  const inMessage = slice.loadMaybeRef() ?? undefined;
  const outMessages = slice.loadDict(Dictionary.Keys.Uint(15), Dictionary.Values.Cell()).values();
  return {
    hash: hex(cell.hash()),
    lt: transaction.lt,
    account: `${workchain}:${transaction.address.toString(16).padStart(64, '0')}`,
    utime: transaction.now,
    seqno,
    in: inMessage && coreMessage(inMessage, transaction.lt),
    out: outMessages.map((message) => coreMessage(message, transaction.lt)),
  };
}

/** @param lt of the transaction: the place of messages that have none of their own */
export function coreMessage(cell: Cell, lt: bigint) {
  const message = loadMessage(cell.beginParse());
  const { info, body } = message;
  const opcode = body.isExotic || body.bits.length < 32 ? null : body.beginParse().loadInt(32);
  const hash = hex(cell.hash());
  const created = 'createdLt' in info ? info.createdLt : null;
  const normalized = info.type === 'external-in' ? normalizedHash(message) : hash;
  return {
    hash,
    lt: created ?? lt,
    hash_norm: normalized === hash ? null : normalized,
    kind: { 'external-in': 0, internal: 1, 'external-out': 2 }[info.type],
    source: info.src instanceof Address ? info.src.toRawString() : null,
    destination: info.dest instanceof Address ? info.dest.toRawString() : null,
    created_lt: created,
    created_at: 'createdAt' in info ? info.createdAt : null,
    opcode,
    body_hash: hex(body.hash()),
  };
}

/** TEP-467, as its text says it. */
function normalizedHash({ info, body }: Message): string {
  const plain: Message = {
    info: { type: 'external-in', dest: info.dest as Address, importFee: 0n },
    init: null,
    body,
  };
  return hex(
    beginCell()
      .store(storeMessage(plain, { forceRef: true }))
      .endCell()
      .hash(),
  );
}

export function plainMessage(row: MessageRow): PlainMessage {
  return {
    ...row,
    hash: hex(row.hash),
    hash_norm: row.hash_norm && hex(row.hash_norm),
    source: row.source && plainAccount(row.source),
    destination: row.destination && plainAccount(row.destination),
    body_hash: hex(row.body_hash),
  };
}

export function plainAccount(column: Uint8Array): string {
  const { workchain, id } = accountOfKey(column);
  return `${workchain}:${hex(id)}`;
}

/** A transaction's row, its messages read with @ton/core out of the stored bag. */
export function plainTransaction(row: BlockRows['transactions'][number]): PlainTransaction {
  const [cell] = Cell.fromBoc(Buffer.from(row.boc)) as [Cell];
  const stored = coreTransaction(cell, row.workchain, row.seqno);
  return { ...stored, hash: hex(row.hash), lt: row.lt, account: plainAccount(row.account), utime: row.utime };
}
