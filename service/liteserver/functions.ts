import type { Fields, RecordOf, TlRecord } from './tl/record.ts';
import { bool, bytes, int, int256, long, nat, uint, ulong, vector } from './tl/codec.ts';
import * as api from './tl/lite-api.ts';
import { decodeTl, encodeTl, modeFlag, optional, record, spelled } from './tl/record.ts';
import { blockId, blockPlace } from './tl/ton-node.ts';

/**
 * Lite-server function, for both ends. A client encodes arguments and decodes the answer, a server does the reverse. All four work on boxed TL
 * objects (id first, no `liteServer.query` envelope) and throw TlError. Decoded byte strings and hashes are views of the input.
 */
export type LiteServerFunction<Args, Answer> = {
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

export type ArgsOf<F> = F extends LiteServerFunction<infer Args, unknown> ? Args : never;
export type AnswerOf<F> = F extends LiteServerFunction<never, infer Answer> ? Answer : never;

function define<const F extends Fields, Answer>(
  name: string,
  fields: F,
  answer: TlRecord<Answer>,
  explicitId?: number,
): LiteServerFunction<RecordOf<F>, Answer> {
  const args = record(`liteServer.${name}`, answer.boxed.tl, fields, explicitId);
  return {
    name,
    id: args.id,
    declaration: args.declaration,
    encode: (value) => encodeTl(args.boxed, value),
    decode: (value) => decodeTl(answer.boxed, value),
    decodeArgs: (value) => decodeTl(args.boxed, value),
    encodeAnswer: (value) => encodeTl(answer.boxed, value),
  };
}

export const getMasterchainInfo = define('getMasterchainInfo', {}, api.masterchainInfo);

/** Mode 0, or bit 0: the newest block whose shard blocks are applied. */
export const getMasterchainInfoExt = define('getMasterchainInfoExt', { mode: nat }, api.masterchainInfoExt);

export const getTime = define('getTime', {}, api.currentTime);

export const getVersion = define('getVersion', {}, api.version);

export const getBlock = define('getBlock', { id: blockId }, api.blockData);

/** Whole state; the node gives it for seqno <= 1000 only. */
export const getState = define('getState', { id: blockId }, api.blockState);

/** Mode bits: 1 state update, 2 value flow, 16 extra, 32 shard hashes, 64 previous signatures (service/liteserver/README.md#mode-bits). */
export const getBlockHeader = define('getBlockHeader', { id: blockId, mode: nat }, api.blockHeader);

export const sendMessage = define('sendMessage', { body: bytes }, api.sendMsgStatus);

export const getAccountState = define('getAccountState', { id: blockId, account: api.accountId }, api.accountState);

/** Like getAccountState, but `state` is a Merkle proof of the account without code, data and libraries. */
export const getAccountStatePrunned = define(
  'getAccountStatePrunned',
  { id: blockId, account: api.accountId },
  api.accountState,
);

/** Mode bits: 1 shard proof and proof, 2 state proof, 4 result, 8 init c7, 16 library extras, 32 full c7. */
export const runSmcMethod = define(
  'runSmcMethod',
  { mode: nat, id: blockId, account: api.accountId, methodId: long, params: bytes },
  api.runMethodResult,
);

export const getShardInfo = define(
  'getShardInfo',
  { id: blockId, workchain: int, shard: ulong, exact: bool },
  api.shardInfo,
);

export const getAllShardsInfo = define('getAllShardsInfo', { id: blockId }, api.allShardsInfo);

export const getOneTransaction = define(
  'getOneTransaction',
  { id: blockId, account: api.accountId, lt: long },
  api.transactionInfo,
);

/** `count` newest first, from (lt, hash) back; at most 16 come. */
export const getTransactions = define(
  'getTransactions',
  { count: nat, account: api.accountId, lt: long, hash: int256 },
  api.transactionList,
);

/** Exactly one of mode 1 (by seqno), 2 (by lt), 4 (by utime); bits of getBlockHeader shifted left by 4. */
export const lookupBlock = define(
  'lookupBlock',
  { mode: nat, id: blockPlace, lt: optional(1, long), utime: optional(2, uint) },
  api.blockHeader,
);

/** Like lookupBlock, proved against `mcBlockId`. */
export const lookupBlockWithProof = define(
  'lookupBlockWithProof',
  { mode: nat, id: blockPlace, mcBlockId: blockId, lt: optional(1, long), utime: optional(2, uint) },
  api.lookupBlockResult,
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
export const listBlockTransactions = define('listBlockTransactions', listing, api.blockTransactions);

/** Like listBlockTransactions, with the transactions themselves. */
export const listBlockTransactionsExt = define('listBlockTransactionsExt', listing, api.blockTransactionsExt);

/** Mode bits: 1 target is present, 2 target is the server's last block, 0x1000 base on max(known, target). */
export const getBlockProof = define(
  'getBlockProof',
  { mode: nat, knownBlock: blockId, targetBlock: optional(0, blockId) },
  api.partialBlockProof,
);

/** Mode: the low 16 bits are ConfigInfo's needs, 0x8000 the previous key block's config (service/liteserver/README.md#mode-bits). */
export const getConfigAll = define('getConfigAll', { mode: nat, id: blockId }, api.configInfo);

export const getConfigParams = define(
  'getConfigParams',
  { mode: nat, id: blockId, paramList: vector(int) },
  api.configInfo,
);

/** Mode bits: 1 `startAfter` is present, 2 includes it, 4 `modifiedAfter` is present. */
export const getValidatorStats = define(
  'getValidatorStats',
  { mode: nat, id: blockId, limit: int, startAfter: optional(0, int256), modifiedAfter: optional(2, uint) },
  api.validatorStats,
  0x091a58bc,
);

export const getLibraries = define('getLibraries', { libraryList: vector(int256) }, api.libraryResult);

/** Mode bits: 1 up to 16 publishers, 2 without the library data. */
export const getLibrariesWithProof = define(
  'getLibrariesWithProof',
  { id: blockId, mode: nat, libraryList: vector(int256) },
  api.libraryResultWithProof,
);

export const getShardBlockProof = define('getShardBlockProof', { id: blockId }, api.shardBlockProof);

const optionalShard = { mode: nat, workchain: spelled('wc', optional(0, int)), shard: optional(0, ulong) } as const;

export const getOutMsgQueueSizes = define('getOutMsgQueueSizes', optionalShard, api.outMsgQueueSizes);

export const getBlockOutMsgQueueSize = define(
  'getBlockOutMsgQueueSize',
  { mode: nat, id: blockId, wantProof: modeFlag(0) },
  api.blockOutMsgQueueSize,
);

/** Mode bits: 1 proof, 2 `afterAddr` is present. */
export const getDispatchQueueInfo = define(
  'getDispatchQueueInfo',
  { mode: nat, id: blockId, afterAddr: optional(1, int256), maxAccounts: int, wantProof: modeFlag(0) },
  api.dispatchQueueInfo,
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
);

/** Answered only by nodes that run with `--nonfinal-ls`. */
export const getPendingShardBlocks = define('nonfinal.getPendingShardBlocks', optionalShard, api.pendingShardBlocks);

/** Every function, in the order of service/liteserver/README.md#functions. */
export const liteServerFunctions = [
  getMasterchainInfo,
  getMasterchainInfoExt,
  getTime,
  getVersion,
  getBlock,
  getState,
  getBlockHeader,
  sendMessage,
  getAccountState,
  getAccountStatePrunned,
  runSmcMethod,
  getShardInfo,
  getAllShardsInfo,
  getOneTransaction,
  getTransactions,
  lookupBlock,
  lookupBlockWithProof,
  listBlockTransactions,
  listBlockTransactionsExt,
  getBlockProof,
  getConfigAll,
  getConfigParams,
  getValidatorStats,
  getLibraries,
  getLibrariesWithProof,
  getShardBlockProof,
  getOutMsgQueueSizes,
  getBlockOutMsgQueueSize,
  getDispatchQueueInfo,
  getDispatchQueueMessages,
  getPendingShardBlocks,
] as const;

const byId: ReadonlyMap<number, LiteServerFunction<unknown, unknown>> = new Map(
  liteServerFunctions.map((fn) => [fn.id, fn as LiteServerFunction<unknown, unknown>]),
);

/** Returns the function that a request (id first, no envelope or prefix) calls; undefined for an unknown id. */
export function functionOf(request: Buffer): LiteServerFunction<unknown, unknown> | undefined {
  return request.length < 4 ? undefined : byId.get(request.readUInt32LE(0));
}
