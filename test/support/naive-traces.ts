import { Cell, loadTransaction, type Message, type Transaction } from '@ton/core';

/** What is known of a transaction beside its own cell. */
export type TransactionSource = { readonly boc: Buffer; readonly workchain: number; readonly mc_seqno: number };

/** A node as v3 shows it. */
export type NaiveNode = {
  readonly tx_hash: string;
  readonly in_msg_hash?: string;
  readonly children: readonly NaiveNode[];
};

/** A trace with the fields that v3 shows of it. */
export type NaiveTrace = {
  readonly trace_id: string;
  readonly external_hash: string | null;
  readonly mc_seqno_start: string;
  readonly mc_seqno_end: string;
  readonly start_lt: string;
  readonly start_utime: number;
  readonly end_lt: string;
  readonly end_utime: number;
  readonly messages: number;
  readonly transactions: number;
  readonly pending_messages: number;
  readonly transactions_order: readonly string[];
  readonly tree: NaiveNode;
  /** Raw, upper case. */
  readonly accounts: readonly string[];
  /** Hashes of all messages that were taken or sent. */
  readonly messageHashes: readonly string[];
};

type Read = {
  readonly hash: string;
  readonly account: string;
  readonly mcSeqno: number;
  readonly read: Transaction;
  readonly taken: string | undefined;
  readonly sent: readonly Sent[];
};

type Sent = { readonly hash: string; readonly isInternal: boolean };

/** Traces of a whole chain from its transactions alone, by the client library and without any order of blocks: slow, short and independent. */
export function naiveTraces(sources: readonly TransactionSource[]): NaiveTrace[] {
  const all = sources.map(readSource);
  const sender = new Map(all.flatMap((one) => one.sent.map(({ hash }) => [hash, one] as const)));
  const taker = new Map(all.flatMap((one) => (one.taken === undefined ? [] : [[one.taken, one] as const])));
  const isRoot = ({ taken }: Read): boolean => taken === undefined || !sender.has(taken);
  return all.filter(isRoot).map((root) => describeTrace(root, taker));
}

function readSource({ boc, workchain, mc_seqno: mcSeqno }: TransactionSource): Read {
  const cell = Cell.fromBoc(boc)[0]!;
  const read = loadTransaction(cell.beginParse());
  const messages = cell.refs[0]!.beginParse();
  const account = `${workchain}:${read.address.toString(16).padStart(64, '0').toUpperCase()}`;
  const taken = messages.loadBit() ? messages.loadRef().hash().toString('base64') : undefined;
  return {
    hash: cell.hash().toString('base64'),
    account,
    mcSeqno,
    read,
    taken,
    sent: sentOf(cell, read.outMessages.values()),
  };
}

/** Hashes of the cells as they stand in the transaction: the library would write a message anew in another form. */
function sentOf(transaction: Cell, messages: readonly Message[]): Sent[] {
  const slice = transaction.refs[0]!.beginParse();
  if (slice.loadBit()) slice.loadRef();
  if (!slice.loadBit()) return [];
  const cells = leavesOf(slice.loadRef(), 15);
  return messages.map(({ info }, at) => ({
    hash: cells[at]!.hash().toString('base64'),
    isInternal: info.type === 'internal',
  }));
}

/** The references in the leaves of a dictionary, in the order of its keys. */
function leavesOf(edge: Cell, keyBits: number): Cell[] {
  const slice = edge.beginParse();
  const left = keyBits - skipLabel(slice, keyBits);
  if (left === 0) return [slice.loadRef()];
  return [...leavesOf(slice.loadRef(), left - 1), ...leavesOf(slice.loadRef(), left - 1)];
}

/** `hml_short`, `hml_long`, `hml_same`; returns the label's length. */
function skipLabel(slice: ReturnType<Cell['beginParse']>, max: number): number {
  const lengthBits = Math.ceil(Math.log2(max + 1));
  if (!slice.loadBit()) {
    let length = 0;
    while (slice.loadBit()) length += 1;
    slice.skip(length);
    return length;
  }
  const isSame = slice.loadBit();
  if (isSame) slice.skip(1);
  const length = slice.loadUint(lengthBits);
  if (!isSame) slice.skip(length);
  return length;
}

function describeTrace(root: Read, taker: ReadonlyMap<string, Read>): NaiveTrace {
  const found: Read[] = [];
  const describeNode = (one: Read): NaiveNode => {
    found.push(one);
    const children = one.sent.flatMap(({ hash }) => taker.get(hash) ?? []).toSorted(byLt);
    return {
      tx_hash: one.hash,
      ...(one.taken !== undefined && { in_msg_hash: one.taken }),
      children: children.map(describeNode),
    };
  };
  const tree = describeNode(root);
  const ordered = found.toSorted(byLt);
  const last = ordered.at(-1)!;
  const sent = found.flatMap((one) => one.sent);
  const pending = sent.filter(({ hash, isInternal }) => isInternal && !taker.has(hash)).length;
  return {
    trace_id: root.hash,
    external_hash: root.taken ?? null,
    mc_seqno_start: `${root.mcSeqno}`,
    mc_seqno_end: `${Math.max(...found.map(({ mcSeqno }) => mcSeqno))}`,
    start_lt: root.read.lt.toString(),
    start_utime: root.read.now,
    end_lt: last.read.lt.toString(),
    end_utime: last.read.now,
    messages: (root.taken === undefined ? 0 : 1) + sent.length - pending,
    transactions: found.length,
    pending_messages: pending,
    transactions_order: ordered.map(({ hash }) => hash),
    tree,
    accounts: [...new Set(found.map(({ account }) => account))],
    messageHashes: [...new Set(found.flatMap((one) => [one.taken ?? [], one.sent.map(({ hash }) => hash)].flat()))],
  };
}

function byLt(one: Read, other: Read): number {
  if (one.read.lt !== other.read.lt) return one.read.lt < other.read.lt ? -1 : 1;
  return one.account < other.account ? -1 : 1;
}
