import { MASTERCHAIN } from '../decode/block-id.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import type { ArgsOf } from '../liteserver/functions.ts';
import type {
  getBlockOutMsgQueueSize,
  getDispatchQueueInfo,
  getDispatchQueueMessages,
  getOutMsgQueueSizes,
} from '../liteserver/functions.ts';
import type {
  BlockOutMsgQueueSize,
  DispatchQueueInfo,
  DispatchQueueMessages,
  OutMsgQueueSizes,
} from '../liteserver/tl/lite-api.ts';
import type { ChainBlock } from './chain.ts';
import type { Entry } from './dictionary.ts';
import { firstEntry, key64, lookUpNearest } from './dictionary.ts';
import { refusal, serverCode } from './errors.ts';
import { visitHeaderAndState } from './header-proof.ts';
import { readEnvelope } from './listing-queries.ts';
import type { Shown } from './proof-builder.ts';
import { answerBoc } from './proof-builder.ts';
import { shardsIntersect } from './shards.ts';
import type { View } from './view.ts';
import { isValidId, needBlock, tipBlock, visitState } from './view.ts';
import type { VisitedCells } from './visited-cells.ts';
import { openState } from './walk.ts';

/** Queue length above which the node takes no external messages: what it reports as the limit. */
const externalsQueueLimit = 8000;

/** Accounts of one answer. */
const accountsMax = 64;

/** Messages of one answer, and of one that carries the messages themselves. */
const messagesMax = 64;
const messagesWithBocMax = 16;

/** `OutMsgQueueInfo`: the messages that wait in a shard. */
type Queue = {
  /** Root of the dispatch queue: accounts whose messages wait their turn. */
  readonly dispatch: number | undefined;
  /** Absent in states of before the size was counted. */
  readonly size: bigint | undefined;
};

function openQueue(tree: VisitedCells): Queue {
  const slice = new CellSlice(tree, openState(tree, tree.root).outQueue);
  slice.maybeRef();
  slice.skip(64);
  slice.maybeRef();
  if (!slice.bit()) return { dispatch: undefined, size: undefined };
  slice.expectTag(4, 0, 'OutMsgQueueExtra');
  const dispatch = slice.maybeRef();
  slice.skip(64);
  return { dispatch, size: slice.bit() ? slice.uintBig(48) : undefined };
}

function loadState(view: View, id: Parameters<typeof isValidId>[0]): { block: ChainBlock; state: VisitedCells } {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid BlockIdExt');
  const block = needBlock(view, id);
  return { block, state: visitState(view, block) };
}

function queueProof(view: View, block: ChainBlock, state: VisitedCells, mode: number): { readonly proof?: Buffer } {
  return (mode & 1) === 0 ? {} : { proof: answerBoc(visitHeaderAndState(view, block), state) };
}

function sizeOf(state: VisitedCells): bigint {
  const { size } = openQueue(state);
  if (size === undefined) throw refusal(serverCode.fatal, 'no out_msg_queue_size in shard state');
  return size;
}

export function answerQueueSizes(
  view: View,
  { workchain, shard }: ArgsOf<typeof getOutMsgQueueSizes>,
): OutMsgQueueSizes {
  const tip = tipBlock(view);
  const blocks = [tip, ...tip.shards.map(({ id }) => view.chain.find(id))].filter((block) => block !== undefined);
  const wanted = blocks.filter(
    ({ id }) =>
      workchain === undefined ||
      shard === undefined ||
      (id.workchain === workchain && (workchain === MASTERCHAIN || shardsIntersect(id.shard, shard))),
  );
  return {
    shards: wanted.map((block) => ({ id: block.id, size: Number(sizeOf(visitState(view, block))) })),
    extMsgQueueSizeLimit: externalsQueueLimit,
  };
}

export function answerBlockQueueSize(
  view: View,
  { mode, id }: ArgsOf<typeof getBlockOutMsgQueueSize>,
): BlockOutMsgQueueSize {
  const { block, state } = loadState(view, id);
  const size = sizeOf(state);
  return { mode, id: block.id, size, ...queueProof(view, block, state, mode) };
}

/** `_ messages:(HashmapE 64 EnqueuedMsg) count:uint48 = AccountDispatchQueue`. */
function openAccountQueue({ value }: Entry): { readonly messages: number; readonly size: bigint } {
  value.skip(64);
  const messages = value.maybeRef();
  if (messages === undefined) throw refusal(serverCode.fatal, 'invalid account dispatch queue');
  return { messages, size: value.uintBig(48) };
}

/** An account of the dispatch queue from a key on. */
function nextAccount(tree: VisitedCells, { dispatch }: Queue, key: Buffer, orEqual: boolean): Entry | undefined {
  return dispatch === undefined ? undefined : lookUpNearest({ table: tree, cell: dispatch }, 256, key, 'next', orEqual);
}

export function answerDispatchQueueInfo(
  view: View,
  { mode, id, afterAddr, maxAccounts }: ArgsOf<typeof getDispatchQueueInfo>,
): DispatchQueueInfo {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid BlockIdExt');
  if (maxAccounts <= 0) throw refusal(serverCode.fatal, 'invalid max_accounts');
  const { block, state } = loadState(view, id);
  const queue = openQueue(state);
  const accounts: DispatchQueueInfo['accountDispatchQueues'][number][] = [];
  let complete = false;
  let next = nextAccount(state, queue, afterAddr ?? Buffer.alloc(32), afterAddr === undefined);
  for (;;) {
    if (next === undefined) {
      complete = true;
      break;
    }
    if (accounts.length === Math.min(maxAccounts, accountsMax)) break;
    const { messages, size } = openAccountQueue(next);
    const dictionary = { table: state, cell: messages };
    accounts.push({
      addr: next.key,
      size,
      minLt: firstEntry(dictionary, 64, 'next').key.readBigInt64BE(0),
      maxLt: firstEntry(dictionary, 64, 'previous').key.readBigInt64BE(0),
    });
    next = nextAccount(state, queue, next.key, false);
  }
  return { mode, id: block.id, accountDispatchQueues: accounts, complete, ...queueProof(view, block, state, mode) };
}

type Message = DispatchQueueMessages['messages'][number];

/** What the node answers for a message whose envelope does not say who began its chain. */
const noMetadata: Message['metadata'] = {
  mode: 0,
  depth: -1,
  initiator: { workchain: -0x80000000, id: Buffer.alloc(32) },
  initiatorLt: -1n,
};

/** Mode bits: 1 proof, 2 one account only, 4 the messages themselves. */
export function answerDispatchQueueMessages(
  view: View,
  { mode, id, addr, afterLt, maxMessages }: ArgsOf<typeof getDispatchQueueMessages>,
): DispatchQueueMessages {
  if (!isValidId(id)) throw refusal(serverCode.fatal, 'invalid BlockIdExt');
  if (maxMessages <= 0) throw refusal(serverCode.fatal, 'invalid max_messages');
  const withBoc = (mode & 4) !== 0;
  const wanted = Math.min(maxMessages, withBoc ? messagesWithBocMax : messagesMax);
  const { block, state } = loadState(view, id);
  const queue = openQueue(state);
  const messages: Message[] = [];
  const roots: Shown[] = [];
  let complete = false;
  let account = addr;
  let lt = afterLt > 0n ? afterLt : 0n;
  for (let isFirst = true; messages.length < wanted; isFirst = false, lt = 0n) {
    const next = nextAccount(state, queue, account, isFirst);
    if (next === undefined || ((mode & 2) !== 0 && !next.key.equals(addr))) {
      complete = true;
      break;
    }
    account = next.key;
    for (const { message, cell } of messagesAfter(state, next, lt, wanted - messages.length)) {
      messages.push(message);
      roots.push({ table: state.source, cell });
    }
  }
  return {
    mode,
    id: block.id,
    messages,
    complete,
    ...queueProof(view, block, state, mode),
    ...(withBoc && { messagesBoc: roots.length === 0 ? Buffer.alloc(0) : answerBoc(...roots) }),
  };
}

/** An account's messages behind an lt; looks (and thereby shows) one further than wanted, as the node does. */
function messagesAfter(
  tree: VisitedCells,
  account: Entry,
  after: bigint,
  wanted: number,
): { message: Message; cell: number }[] {
  const dictionary = { table: tree, cell: openAccountQueue(account).messages };
  const found: { message: Message; cell: number }[] = [];
  for (let key = key64(after); ;) {
    const next = lookUpNearest(dictionary, 64, key, 'next', false);
    if (next === undefined || found.length === wanted) return found;
    key = next.key;
    // `EnqueuedMsg`: the message's lt, then its envelope.
    next.value.skip(64);
    const { message, metadata } = readEnvelope(next.value.refSlice());
    found.push({
      cell: message,
      message: {
        addr: account.key,
        lt: key.readBigInt64BE(0),
        hash: tree.hash(message),
        metadata: metadata ?? noMetadata,
      },
    });
  }
}
