import type { Fields, RecordOf, TlRecord } from './tl/record.ts';
import type { ProofFact, QueryFacts } from './query-facts.ts';
import {
  accountAtBlock,
  accountAtLt,
  accountBlockOf,
  accountStateOf,
  blockOf,
  laterBlockOf,
  masterchainBlockOf,
  namedBlock,
  newestBlock,
  nothing,
  pathOfBlocks,
  searchedBlock,
  searchedBlockOf,
  stateOf,
} from './query-facts.ts';
import { bool, bytes, int, int256, long, nat, uint, ulong, vector } from './tl/codec.ts';
import * as api from './tl/lite-api.ts';
import { decodeTl, encodeTl, modeFlag, optional, record, spelled } from './tl/record.ts';
import { blockId, blockPlace } from './tl/ton-node.ts';

/**
 * Lite-server function, for both ends. A client encodes arguments and decodes the answer, a server does the reverse. All four work on boxed TL
 * objects (id first, no `liteServer.query` envelope) and throw TlError. Decoded byte strings and hashes are views of the input.
 */
export type LiteServerFunction<Args, Answer, Proof extends ProofFact = ProofFact> = QueryFacts<Args, Proof> & {
  /** Name without `liteServer.`: `getAccountState`. */
  readonly name: string;
  /** Constructor id, unsigned 32 bits. */
  readonly id: number;
  /** Declaration from which the id is computed. */
  readonly declaration: string;
  encode(args: Args): Buffer;
  decode(answer: Buffer): Answer;
  decodeArgs(request: Buffer): Args;
  encodeAnswer(answer: Answer): Buffer;
};

export type ArgsOf<F> = F extends { decodeArgs(request: Buffer): infer Args } ? Args : never;
export type AnswerOf<F> = F extends { decode(answer: Buffer): infer Answer } ? Answer : never;

function define<const F extends Fields, Answer, Proof extends ProofFact>(
  name: string,
  fields: F,
  answer: TlRecord<Answer>,
  facts: QueryFacts<RecordOf<F>, Proof>,
  explicitId?: number,
): LiteServerFunction<RecordOf<F>, Answer, Proof> {
  const args = record(`liteServer.${name}`, answer.boxed.tl, fields, explicitId);
  return {
    ...facts,
    name,
    id: args.id,
    declaration: args.declaration,
    encode: (value) => encodeTl(args.boxed, value),
    decode: (value) => decodeTl(answer.boxed, value),
    decodeArgs: (value) => decodeTl(args.boxed, value),
    encodeAnswer: (value) => encodeTl(answer.boxed, value),
  };
}

export const getMasterchainInfo = define('getMasterchainInfo', {}, api.masterchainInfo, {
  cost: 'light',
  positions: newestBlock,
  depth: nothing,
  waitsFor: nothing,
  proof: 'none',
});

/** Mode 0, or bit 0: the newest block whose shard blocks are applied. */
export const getMasterchainInfoExt = define('getMasterchainInfoExt', { mode: nat }, api.masterchainInfoExt, {
  cost: 'light',
  positions: newestBlock,
  depth: nothing,
  waitsFor: nothing,
  proof: 'none',
});

export const getTime = define('getTime', {}, api.currentTime, {
  cost: 'light',
  positions: newestBlock,
  depth: nothing,
  waitsFor: nothing,
  proof: 'none',
});

export const getVersion = define('getVersion', {}, api.version, {
  cost: 'light',
  positions: newestBlock,
  depth: nothing,
  waitsFor: nothing,
  proof: 'none',
});

export const getBlock = define('getBlock', { id: blockId }, api.blockData, {
  cost: 'heavy',
  positions: namedBlock,
  depth: blockOf,
  waitsFor: nothing,
  proof: 'checked',
});

/** Whole state; the node gives it for seqno <= 1000 only. */
export const getState = define('getState', { id: blockId }, api.blockState, {
  cost: 'heavy',
  positions: namedBlock,
  depth: blockOf,
  waitsFor: nothing,
  proof: 'checked',
});

/** Mode bits: 1 state update, 2 value flow, 16 extra, 32 shard hashes, 64 previous signatures (service/liteserver/README.md#mode-bits). */
export const getBlockHeader = define('getBlockHeader', { id: blockId, mode: nat }, api.blockHeader, {
  cost: 'light',
  positions: namedBlock,
  depth: blockOf,
  waitsFor: nothing,
  proof: 'checked',
});

export const sendMessage = define('sendMessage', { body: bytes }, api.sendMsgStatus, {
  cost: 'light',
  positions: newestBlock,
  depth: nothing,
  waitsFor: nothing,
  proof: 'none',
});

export const getAccountState = define('getAccountState', { id: blockId, account: api.accountId }, api.accountState, {
  cost: 'state',
  positions: accountAtBlock,
  depth: accountStateOf,
  waitsFor: masterchainBlockOf,
  proof: 'checked',
});

/** Like getAccountState, but `state` is a Merkle proof of the account without code, data and libraries. */
export const getAccountStatePrunned = define(
  'getAccountStatePrunned',
  { id: blockId, account: api.accountId },
  api.accountState,
  { cost: 'state', positions: accountAtBlock, depth: accountStateOf, waitsFor: masterchainBlockOf, proof: 'checked' },
);

/** Mode bits: 1 shard proof and proof, 2 state proof, 4 result, 8 init c7, 16 library extras, 32 full c7. */
export const runSmcMethod = define(
  'runSmcMethod',
  { mode: nat, id: blockId, account: api.accountId, methodId: long, params: bytes },
  api.runMethodResult,
  { cost: 'state', positions: accountAtBlock, depth: accountStateOf, waitsFor: masterchainBlockOf, proof: 'none' },
);

export const getShardInfo = define(
  'getShardInfo',
  { id: blockId, workchain: int, shard: ulong, exact: bool },
  api.shardInfo,
  { cost: 'state', positions: namedBlock, depth: stateOf, waitsFor: masterchainBlockOf, proof: 'checked' },
);

export const getAllShardsInfo = define('getAllShardsInfo', { id: blockId }, api.allShardsInfo, {
  cost: 'heavy',
  positions: namedBlock,
  depth: blockOf,
  waitsFor: masterchainBlockOf,
  proof: 'checked',
});

export const getOneTransaction = define(
  'getOneTransaction',
  { id: blockId, account: api.accountId, lt: long },
  api.transactionInfo,
  { cost: 'heavy', positions: accountAtBlock, depth: accountBlockOf, waitsFor: nothing, proof: 'checked' },
);

/** `count` newest first, from (lt, hash) back; at most 16 come. */
export const getTransactions = define(
  'getTransactions',
  { count: nat, account: api.accountId, lt: long, hash: int256 },
  api.transactionList,
  { cost: 'heavy', positions: accountAtLt, depth: nothing, waitsFor: nothing, proof: 'checked' },
);

/** Exactly one of mode 1 (by seqno), 2 (by lt), 4 (by utime); bits of getBlockHeader shifted left by 4. */
export const lookupBlock = define(
  'lookupBlock',
  { mode: nat, id: blockPlace, lt: optional(1, long), utime: optional(2, uint) },
  api.blockHeader,
  { cost: 'light', positions: searchedBlock, depth: searchedBlockOf, waitsFor: nothing, proof: 'checked' },
);

/** Like lookupBlock, proved against `mcBlockId`. */
export const lookupBlockWithProof = define(
  'lookupBlockWithProof',
  { mode: nat, id: blockPlace, mcBlockId: blockId, lt: optional(1, long), utime: optional(2, uint) },
  api.lookupBlockResult,
  {
    cost: 'state',
    positions: searchedBlock,
    depth: searchedBlockOf,
    waitsFor: ({ mcBlockId }) => mcBlockId.seqno,
    proof: 'checked',
  },
);

const listing = {
  id: blockId,
  mode: nat,
  count: nat,
  after: optional(7, api.transactionPlace),
  reverseOrder: modeFlag(6),
  wantProof: modeFlag(5),
} as const;

/** Mode bits: 1 account, 2 lt, 4 hash, 32 proof, 64 reverse, 128 `after` is present, 256 metadata. At most 256 come. */
export const listBlockTransactions = define('listBlockTransactions', listing, api.blockTransactions, {
  cost: 'heavy',
  positions: namedBlock,
  depth: blockOf,
  waitsFor: nothing,
  proof: 'checked',
});

/** Like listBlockTransactions, with the transactions themselves. */
export const listBlockTransactionsExt = define('listBlockTransactionsExt', listing, api.blockTransactionsExt, {
  cost: 'heavy',
  positions: namedBlock,
  depth: blockOf,
  waitsFor: nothing,
  proof: 'checked',
});

/** Mode bits: 1 target is present, 2 target is the server's last block, 0x1000 base on max(known, target). */
export const getBlockProof = define(
  'getBlockProof',
  { mode: nat, knownBlock: blockId, targetBlock: optional(0, blockId) },
  api.partialBlockProof,
  { cost: 'heavy', positions: pathOfBlocks, depth: nothing, waitsFor: laterBlockOf, proof: 'checked' },
);

/** Mode: the low 16 bits are ConfigInfo's needs, 0x8000 the previous key block's config (service/liteserver/README.md#mode-bits). */
export const getConfigAll = define('getConfigAll', { mode: nat, id: blockId }, api.configInfo, {
  cost: 'state',
  positions: namedBlock,
  depth: stateOf,
  waitsFor: masterchainBlockOf,
  proof: 'checked',
});

export const getConfigParams = define(
  'getConfigParams',
  { mode: nat, id: blockId, paramList: vector(int) },
  api.configInfo,
  { cost: 'state', positions: namedBlock, depth: stateOf, waitsFor: masterchainBlockOf, proof: 'checked' },
);

/** Mode bits: 1 `startAfter` is present, 2 includes it, 4 `modifiedAfter` is present. */
export const getValidatorStats = define(
  'getValidatorStats',
  { mode: nat, id: blockId, limit: int, startAfter: optional(0, int256), modifiedAfter: optional(2, uint) },
  api.validatorStats,
  { cost: 'state', positions: namedBlock, depth: stateOf, waitsFor: masterchainBlockOf, proof: 'none' },
  0x091a58bc,
);

export const getLibraries = define('getLibraries', { libraryList: vector(int256) }, api.libraryResult, {
  cost: 'light',
  positions: newestBlock,
  depth: nothing,
  waitsFor: nothing,
  proof: 'checked',
});

/** Mode bits: 1 up to 16 publishers, 2 without the library data. */
export const getLibrariesWithProof = define(
  'getLibrariesWithProof',
  { id: blockId, mode: nat, libraryList: vector(int256) },
  api.libraryResultWithProof,
  { cost: 'state', positions: namedBlock, depth: stateOf, waitsFor: masterchainBlockOf, proof: 'checked' },
);

export const getShardBlockProof = define('getShardBlockProof', { id: blockId }, api.shardBlockProof, {
  cost: 'heavy',
  positions: namedBlock,
  depth: blockOf,
  waitsFor: nothing,
  proof: 'checked',
});

const optionalShard = { mode: nat, workchain: spelled('wc', optional(0, int)), shard: optional(0, ulong) } as const;

export const getOutMsgQueueSizes = define('getOutMsgQueueSizes', optionalShard, api.outMsgQueueSizes, {
  cost: 'state',
  positions: newestBlock,
  depth: nothing,
  waitsFor: nothing,
  proof: 'none',
});

export const getBlockOutMsgQueueSize = define(
  'getBlockOutMsgQueueSize',
  { mode: nat, id: blockId, wantProof: modeFlag(0) },
  api.blockOutMsgQueueSize,
  { cost: 'state', positions: namedBlock, depth: stateOf, waitsFor: masterchainBlockOf, proof: 'checked' },
);

/** Mode bits: 1 proof, 2 `afterAddr` is present. */
export const getDispatchQueueInfo = define(
  'getDispatchQueueInfo',
  { mode: nat, id: blockId, afterAddr: optional(1, int256), maxAccounts: int, wantProof: modeFlag(0) },
  api.dispatchQueueInfo,
  { cost: 'state', positions: namedBlock, depth: stateOf, waitsFor: masterchainBlockOf, proof: 'none' },
);

/** Mode bits: 1 proof, 2 one account only, 4 the messages' BoC. */
export const getDispatchQueueMessages = define(
  'getDispatchQueueMessages',
  {
    mode: nat,
    id: blockId,
    addr: int256,
    afterLt: long,
    maxMessages: int,
    wantProof: modeFlag(0),
    oneAccount: modeFlag(1),
    messagesBoc: modeFlag(2),
  },
  api.dispatchQueueMessages,
  { cost: 'state', positions: namedBlock, depth: stateOf, waitsFor: masterchainBlockOf, proof: 'none' },
);

/** Answered only by nodes that run with `--nonfinal-ls`. */
export const getPendingShardBlocks = define('nonfinal.getPendingShardBlocks', optionalShard, api.pendingShardBlocks, {
  cost: 'light',
  positions: newestBlock,
  depth: nothing,
  waitsFor: nothing,
  proof: 'none',
});
