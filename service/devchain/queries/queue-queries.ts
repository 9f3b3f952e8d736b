import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { uintKey, walkHashmap } from '#service/decode/hashmap.ts';
import { shardsIntersect } from '#service/decode/shard.ts';
import { readOutMsgQueueInfo } from '#service/decode/tlb/out-msg-queue-info.ts';
import type { OutMsgQueueInfo } from '#service/decode/tlb/out-msg-queue-info.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type {
  getBlockOutMsgQueueSize,
  getDispatchQueueInfo,
  getDispatchQueueMessages,
  getOutMsgQueueSizes,
} from '#service/liteserver/functions.ts';
import type {
  BlockOutMsgQueueSize,
  DispatchQueueInfo,
  DispatchQueueMessages,
  OutMsgQueueSizes,
} from '#service/liteserver/tl/lite-api.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { visitHeaderAndState } from '../chain/header-proof.ts';
import { readAccountDispatchQueue } from '#service/decode/tlb/account-dispatch-queue.ts';
import { readMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import type { Shown } from '../chain/proof-builder.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { isValidId, needBlock, tipBlock, visitState } from '../chain/chain-view.ts';
import type { VisitedCells } from '../collator/visited-cells.ts';
import { openState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Queue length above which the node takes no external messages. It reports this limit. */
const EXTERNALS_QUEUE_LIMIT = 8000;

/** Most accounts of one answer. */
const ACCOUNTS_MAX = 64;

/** Most messages of one answer, with and without the messages themselves. */
const MESSAGES_MAX = 64;
const MESSAGES_WITH_BOC_MAX = 16;

function openQueue(tree: VisitedCells): OutMsgQueueInfo {
  return readOutMsgQueueInfo(tree, openState(tree, tree.root).outMsgQueueInfo);
}

function loadState(view: ChainView, id: Parameters<typeof isValidId>[0]): { block: ChainBlock; state: VisitedCells } {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid BlockIdExt');
  const block = needBlock(view, id);
  return { block, state: visitState(view, block) };
}

function queueProof(
  view: ChainView,
  block: ChainBlock,
  state: VisitedCells,
  mode: number,
): { readonly proof?: Buffer } {
  return (mode & 1) === 0 ? {} : { proof: answerBoc(visitHeaderAndState(view, block), state) };
}

function sizeOf(state: VisitedCells): bigint {
  const { size } = openQueue(state);
  if (size === undefined) throw refusal(serverCode.fatal, 'no out_msg_queue_size in shard state');
  return size;
}

function answerQueueSizes(view: ChainView, { workchain, shard }: ArgsOf<typeof getOutMsgQueueSizes>): OutMsgQueueSizes {
  const tip = tipBlock(view);
  const blocks = [tip, ...tip.shards.map((top) => view.chain.find(top.block))].filter((block) => block !== undefined);
  const wanted = blocks.filter(
    ({ id }) =>
      workchain === undefined ||
      shard === undefined ||
      (id.workchain === workchain && (workchain === MASTERCHAIN || shardsIntersect(id.shard, shard))),
  );
  return {
    shards: wanted.map((block) => ({ id: block.id, size: Number(sizeOf(visitState(view, block))) })),
    extMsgQueueSizeLimit: EXTERNALS_QUEUE_LIMIT,
  };
}

function answerBlockQueueSize(
  view: ChainView,
  { mode, id }: ArgsOf<typeof getBlockOutMsgQueueSize>,
): BlockOutMsgQueueSize {
  const { block, state } = loadState(view, id);
  const size = sizeOf(state);
  return { mode, id: block.id, size, ...queueProof(view, block, state, mode) };
}

function answerDispatchQueueInfo(
  view: ChainView,
  { mode, id, afterAddr, maxAccounts }: ArgsOf<typeof getDispatchQueueInfo>,
): DispatchQueueInfo {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid BlockIdExt');
  if (maxAccounts <= 0) throw refusal(serverCode.fatal, 'invalid max_accounts');
  const { block, state } = loadState(view, id);
  const accounts: DispatchQueueInfo['accountDispatchQueues'] = [];
  const complete = walkAccounts(state, afterAddr, afterAddr !== undefined, (addr, { messages, size }) => {
    // The account after the last is visited too, because it shows that there are more.
    if (accounts.length === Math.min(maxAccounts, ACCOUNTS_MAX)) return false;
    accounts.push({ addr, size, minLt: endKey(state, messages, false), maxLt: endKey(state, messages, true) });
    return true;
  });
  return { mode, id: block.id, accountDispatchQueues: accounts, complete, ...queueProof(view, block, state, mode) };
}

type AccountQueue = { readonly messages: number; readonly size: bigint };

function readAccountQueue(value: CellSlice): AccountQueue {
  const { messages, count } = readAccountDispatchQueue(value);
  return { messages, size: count };
}

/** Visits the accounts whose messages wait, until `visit` returns false. */
function walkAccounts(
  tree: VisitedCells,
  from: Buffer | undefined,
  exclusive: boolean,
  visit: (account: Buffer, queue: AccountQueue) => boolean,
): boolean {
  return walkHashmap(tree, openQueue(tree).dispatch, 256, (account, value) => visit(account, readAccountQueue(value)), {
    readExtra: (slice) => slice.skip(64),
    exclusive,
    ...(from !== undefined && { from }),
  });
}

/** The smallest or (`reverse`) the largest lt of an account's messages. */
function endKey(tree: VisitedCells, messages: number, reverse: boolean): bigint {
  let lt = 0n;
  const take = (key: Buffer): boolean => {
    lt = key.readBigInt64BE(0);
    return false;
  };
  walkHashmap(tree, messages, 64, take, { reverse });
  return lt;
}

type Message = DispatchQueueMessages['messages'][number];

/** Metadata for a message whose envelope does not name the initiator of its chain. */
const noMetadata: Message['metadata'] = {
  mode: 0,
  depth: -1,
  initiator: { workchain: -0x80000000, id: Buffer.alloc(32) },
  initiatorLt: -1n,
};

/** Mode bits: 1 proof, 2 a single account, 4 the messages themselves. */
function answerDispatchQueueMessages(
  view: ChainView,
  { mode, id, addr, afterLt, maxMessages }: ArgsOf<typeof getDispatchQueueMessages>,
): DispatchQueueMessages {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid BlockIdExt');
  if (maxMessages <= 0) throw refusal(serverCode.fatal, 'invalid max_messages');
  const withBoc = (mode & 4) !== 0;
  const wanted = Math.min(maxMessages, withBoc ? MESSAGES_WITH_BOC_MAX : MESSAGES_MAX);
  const { block, state } = loadState(view, id);
  const messages: Message[] = [];
  const roots: Shown[] = [];
  let lt = afterLt > 0n ? afterLt : 0n;
  let isOther = false;
  const walkedAll = walkAccounts(state, addr, false, (account, queue) => {
    isOther = (mode & 2) !== 0 && !account.equals(addr);
    if (isOther) return false;
    walkMessages(state, account, queue.messages, lt, (message, cell) => {
      // The message after the last is visited too, because it shows that there are more.
      if (messages.length === wanted) return false;
      messages.push(message);
      roots.push({ table: state.source, cell });
      return true;
    });
    lt = 0n;
    return messages.length < wanted;
  });
  return {
    mode,
    id: block.id,
    messages,
    complete: walkedAll || isOther,
    ...queueProof(view, block, state, mode),
    ...(withBoc && { messagesBoc: roots.length === 0 ? Buffer.alloc(0) : answerBoc(...roots) }),
  };
}

/** Visits an account's messages after an lt. Yields each message's facts for the client, and its cell. */
function walkMessages(
  tree: VisitedCells,
  account: Buffer,
  dictionary: number,
  after: bigint,
  visit: (message: Message, cell: number) => boolean,
): void {
  const read = (key: Buffer, value: CellSlice): boolean => {
    // `EnqueuedMsg`: the message's lt, then its envelope.
    value.skip(64);
    const envelope = value.ref();
    const { message, metadata } = readMessageEnvelope(new CellSlice(tree.source, envelope));
    const hash = tree.hash(message);
    const isWanted = visit(
      { addr: account, lt: key.readBigInt64BE(0), hash, metadata: metadata ?? noMetadata },
      message,
    );
    if (isWanted) tree.open(envelope);
    return isWanted;
  };
  walkHashmap(tree, dictionary, 64, read, { from: uintKey(after, 64), exclusive: true });
}

/** Handlers of message queues. */
export const queueQueries = {
  getOutMsgQueueSizes: answerQueueSizes,
  getBlockOutMsgQueueSize: answerBlockQueueSize,
  getDispatchQueueInfo: answerDispatchQueueInfo,
  getDispatchQueueMessages: answerDispatchQueueMessages,
} satisfies Partial<QueryHandlers>;
