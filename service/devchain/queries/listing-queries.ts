import { CellSlice } from '#service/decode/cell-slice.ts';
import { lookupHashmap, uintKey } from '#service/decode/hashmap.ts';
import type { AccountBlock } from '#service/decode/tlb/account-blocks.ts';
import { walkAccountBlocks, walkAccountTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { skipCurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { listBlockTransactions, listBlockTransactionsExt } from '#service/liteserver/functions.ts';
import type { BlockTransactions, BlockTransactionsExt } from '#service/liteserver/tl/lite-api.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import type { MessageMetadata } from '#service/decode/tlb/msg-envelope.ts';
import { readMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { isValidId, needBlock, visitBlock } from '../chain/chain-view.ts';
import type { VisitedCells } from '../collator/visited-cells.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Most transactions of one listing. */
const LISTED_MAX = 256;

const modeBit = { proof: 32, reverse: 64, after: 128, metadata: 256 } as const;

type Args = ArgsOf<typeof listBlockTransactions>;
type Listed = { readonly account: Buffer; readonly lt: bigint; readonly cell: number };
type Listing = {
  readonly tree: VisitedCells;
  readonly inMessages: number;
  readonly listed: readonly Listed[];
  readonly incomplete: boolean;
};

export function answerListing(view: ChainView, args: Args): BlockTransactions {
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
export function answerListingExt(view: ChainView, args: ArgsOf<typeof listBlockTransactionsExt>): BlockTransactionsExt {
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

/** Steps from transaction to transaction, by account, then by lt. Starts after `after`, or at the end that the order begins with. */
function list(view: ChainView, { id, mode, count, after }: Args): Listing {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid block id requested');
  const tree = visitBlock(view, needBlock(view, id));
  const { accountBlocks, inMsgDescr } = readBlockExtra(tree, readBlock(tree, tree.root).extra);
  const reverse = (mode & modeBit.reverse) !== 0;
  const wanted = Math.min(count, LISTED_MAX);
  const listed: Listed[] = [];
  const listAccount = (block: AccountBlock): boolean =>
    walkAccountTransactions(
      block,
      (lt, cell) => {
        listed.push({ account: block.account, lt, cell });
        return listed.length < wanted;
      },
      after !== undefined && block.account.equals(after.account)
        ? { reverse, from: uintKey(BigInt.asUintN(64, after.lt), 64), exclusive: true }
        : { reverse },
    );
  tree.open(accountBlocks);
  const complete =
    wanted > 0 &&
    walkAccountBlocks(tree, accountBlocks, listAccount, {
      reverse,
      ...(after !== undefined && { from: after.account }),
    });
  return { tree, inMessages: inMsgDescr, listed, incomplete: !complete };
}

/** Kinds of `InMsg` whose envelope names the initiator of the chain of messages: `imm$011`, `fin$100` and `deferred_fin$00100`. */
function isEnveloped(inMessage: CellSlice): boolean {
  const tag = inMessage.peekUint(3);
  return tag === 0b011 || tag === 0b100 || (tag === 0b001 && inMessage.peekUint(5) === 0b00100);
}

/** Returns the cell of the envelope of a transaction's received message, if any, and opens the way to it. */
function findEnvelope(tree: VisitedCells, inMessages: number, transaction: number): number | undefined {
  const slice = new CellSlice(tree, transaction);
  // The incoming message stands in the transaction's first reference: a Maybe, then the outgoing ones.
  const messages = slice.refSlice();
  const message = messages.maybeRef();
  if (message === undefined) return undefined;
  const dictionary = new CellSlice(tree, inMessages).maybeRef();
  const value = lookupHashmap(tree, dictionary, 256, tree.hash(message), { readExtra: skipImportFees });
  if (value === undefined) throw refusal(serverCode.generic, 'no InMsg in InMsgDescr for message');
  return isEnveloped(value) ? value.ref() : undefined;
}

/** `import_fees$_ fees_collected:Grams value_imported:CurrencyCollection`. */
function skipImportFees(value: CellSlice): void {
  value.skipVarUint(16);
  skipCurrencyCollection(value);
}

function visitEnvelope(tree: VisitedCells, inMessages: number, transaction: number): void {
  const envelope = findEnvelope(tree, inMessages, transaction);
  if (envelope !== undefined) tree.open(envelope);
}

function readMetadata(tree: VisitedCells, inMessages: number, transaction: number): MessageMetadata | undefined {
  const envelope = findEnvelope(tree, inMessages, transaction);
  return envelope === undefined ? undefined : readMessageEnvelope(new CellSlice(tree, envelope)).metadata;
}

/** Handlers of the transactions of a block. */
export const listingQueries = {
  listBlockTransactions: answerListing,
  listBlockTransactionsExt: answerListingExt,
} satisfies Partial<QueryHandlers>;
