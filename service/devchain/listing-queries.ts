import { CellSlice } from '../decode/cell-slice.ts';
import type { ArgsOf } from '../liteserver/functions.ts';
import type { listBlockTransactions, listBlockTransactionsExt } from '../liteserver/functions.ts';
import type { BlockTransactions, BlockTransactionsExt } from '../liteserver/tl/lite-api.ts';
import type { Direction } from './dictionary.ts';
import { key64, lookUp, lookUpNearest } from './dictionary.ts';
import { refusal, serverCode } from './errors.ts';
import { answerBoc } from './proof-builder.ts';
import { openTransactions } from './transaction-queries.ts';
import type { View } from './view.ts';
import { isValidId, needBlock, visitBlock } from './view.ts';
import type { VisitedCells } from './visited-cells.ts';
import { openBlock, openExtra, skipCurrencies } from './walk.ts';

/** Transactions of one listing. */
const listedMax = 256;

const modeBit = { proof: 32, reverse: 64, after: 128, metadata: 256 } as const;

type Args = ArgsOf<typeof listBlockTransactions>;
type Listed = { readonly account: Buffer; readonly lt: bigint; readonly cell: number };
type Listing = {
  readonly tree: VisitedCells;
  readonly inMessages: number;
  readonly listed: readonly Listed[];
  readonly incomplete: boolean;
};

export function answerListing(view: View, args: Args): BlockTransactions {
  const { id, mode, count } = args;
  const { tree, inMessages, listed, incomplete } = list(view, args);
  const fields = mode & 0xff;
  const ids = listed.map(({ account, lt, cell }) => {
    const metadata = (mode & modeBit.metadata) === 0 ? undefined : readMetadata(tree, inMessages, cell);
    return {
      mode: metadata === undefined ? fields : fields | modeBit.metadata,
      ...((mode & 1) !== 0 && { account }),
      ...((mode & 2) !== 0 && { lt: BigInt.asIntN(64, lt) }),
      ...((mode & 4) !== 0 && { hash: tree.hash(cell) }),
      ...(metadata !== undefined && { metadata }),
    };
  });
  const proof = (mode & modeBit.proof) === 0 ? Buffer.alloc(0) : answerBoc(tree);
  return { id, reqCount: count, incomplete, ids, proof };
}

/** With metadata the proof also shows the messages' envelopes, and is always there. */
export function answerListingExt(view: View, args: ArgsOf<typeof listBlockTransactionsExt>): BlockTransactionsExt {
  const { id, mode, count } = args;
  const { tree, inMessages, listed, incomplete } = list(view, args);
  const withMetadata = (mode & modeBit.metadata) !== 0;
  if (withMetadata) for (const { cell } of listed) visitEnvelope(tree, inMessages, cell);
  const roots = listed.map(({ cell }) => ({ table: tree.source, cell }));
  return {
    id,
    reqCount: count,
    incomplete,
    transactions: roots.length === 0 ? Buffer.alloc(0) : answerBoc(...roots),
    proof: withMetadata || (mode & modeBit.proof) !== 0 ? answerBoc(tree) : Buffer.alloc(0),
  };
}

/** Steps from transaction to transaction: by account, then by lt, from `after` on or from the end that the order starts at. */
function list(view: View, { id, mode, count, after }: Args): Listing {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid block id requested');
  const tree = visitBlock(view, needBlock(view, id));
  const { accountBlocks, inMessages } = openExtra(tree, openBlock(tree, tree.root).extra);
  const direction: Direction = (mode & modeBit.reverse) !== 0 ? 'previous' : 'next';
  const start = after ?? startOf(direction);
  const dictionary = new CellSlice(tree, accountBlocks).maybeRef();
  const wanted = Math.min(count, listedMax);
  const listed: Listed[] = [];
  let account = start.account;
  for (let orEqual = true; listed.length < wanted; orEqual = false) {
    const next =
      dictionary === undefined
        ? undefined
        : lookUpNearest({ table: tree, cell: dictionary }, 256, account, direction, orEqual);
    if (next === undefined) return { tree, inMessages, listed, incomplete: false };
    const isStart = next.key.equals(start.account);
    account = next.key;
    skipCurrencies(next.value);
    const lt = isStart ? start.lt : startOf(direction).lt;
    listAccount(openTransactions(next.value), account, lt, direction, wanted, listed);
  }
  return { tree, inMessages, listed, incomplete: true };
}

function startOf(direction: Direction): { account: Buffer; lt: bigint } {
  return direction === 'next' ? { account: Buffer.alloc(32), lt: 0n } : { account: Buffer.alloc(32, 0xff), lt: -1n };
}

function listAccount(
  transactions: CellSlice,
  account: Buffer,
  after: bigint,
  direction: Direction,
  wanted: number,
  listed: Listed[],
): void {
  for (let key = key64(after); listed.length < wanted;) {
    const next = lookUpNearest(transactions, 64, key, direction, false);
    if (next === undefined) return;
    key = next.key;
    skipCurrencies(next.value);
    listed.push({ account, lt: key.readBigUInt64BE(0), cell: next.value.ref() });
  }
}

/** Kinds of `InMsg` whose envelope tells who began the chain of messages: `imm`, `fin` and `deferred_fin`. */
const envelopedTags: readonly { readonly bits: number; readonly tag: number }[] = [
  { bits: 3, tag: 0b011 },
  { bits: 3, tag: 0b100 },
  { bits: 5, tag: 0b00100 },
];

/** The envelope's cell of the message that a transaction received, if it has one; opens the way to it. */
function findEnvelope(tree: VisitedCells, inMessages: number, transaction: number): number | undefined {
  const slice = new CellSlice(tree, transaction);
  // The incoming message stands in the transaction's first reference: a Maybe, then the outgoing ones.
  const messages = slice.refSlice();
  const message = messages.maybeRef();
  if (message === undefined) return undefined;
  const dictionary = new CellSlice(tree, inMessages).maybeRef();
  const value =
    dictionary === undefined ? undefined : lookUp({ table: tree, cell: dictionary }, 256, tree.hash(message));
  if (value === undefined) throw refusal(serverCode.generic, 'no InMsg in InMsgDescr for message');
  skipImportFees(value);
  return envelopedTags.some(({ bits, tag }) => value.peekUint(bits) === tag) ? value.ref() : undefined;
}

/** `import_fees$_ fees_collected:Grams value_imported:CurrencyCollection`. */
function skipImportFees(value: CellSlice): void {
  value.skipVarUint(16);
  skipCurrencies(value);
}

function visitEnvelope(tree: VisitedCells, inMessages: number, transaction: number): void {
  const envelope = findEnvelope(tree, inMessages, transaction);
  if (envelope !== undefined) tree.open(envelope);
}

function readMetadata(tree: VisitedCells, inMessages: number, transaction: number): Metadata | undefined {
  const envelope = findEnvelope(tree, inMessages, transaction);
  return envelope === undefined ? undefined : readEnvelope(new CellSlice(tree, envelope)).metadata;
}

/** Who began the chain of messages that this one belongs to. */
export type Metadata = {
  readonly mode: number;
  readonly depth: number;
  readonly initiator: { readonly workchain: number; readonly id: Buffer };
  readonly initiatorLt: bigint;
};

/** The message's cell of a `msg_envelope#4` or `msg_envelope_v2#5`, and the latter's metadata. */
export function readEnvelope(slice: CellSlice): { readonly message: number; readonly metadata: Metadata | undefined } {
  const isSecond = slice.uint(4) === 5;
  for (let address = 0; address < 2; address++) skipIntermediateAddress(slice);
  slice.skipVarUint(16);
  const message = slice.ref();
  if (!isSecond) return { message, metadata: undefined };
  if (slice.bit()) slice.skip(64);
  return { message, metadata: slice.bit() ? readMessageMetadata(slice) : undefined };
}

/** `IntermediateAddress`: regular$0 with 7 bits, simple$10 with 8 + 64, ext$11 with 32 + 64. */
function skipIntermediateAddress(slice: CellSlice): void {
  if (!slice.bit()) slice.skip(7);
  else slice.skip(slice.bit() ? 96 : 72);
}

/** `msg_metadata#0 depth:uint32 initiator_addr:MsgAddressInt initiator_lt:uint64`. */
function readMessageMetadata(slice: CellSlice): Metadata {
  slice.expectTag(4, 0, 'MsgMetadata');
  const depth = slice.uint(32);
  slice.expectTag(3, 0b100, 'MsgAddressInt');
  const workchain = slice.int(8);
  const id = slice.hash();
  return { mode: 0, depth, initiator: { workchain, id }, initiatorLt: slice.int64() };
}
