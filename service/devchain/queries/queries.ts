import type { LiteServerFunction } from '#service/liteserver/functions.ts';
import * as functions from '#service/liteserver/functions.ts';
import { TlError } from '#service/liteserver/tl/errors.ts';
import { answerAccountState, answerAccountStatePruned } from './account-queries.ts';
import { answerBlockProof } from './block-proof-queries.ts';
import { answerBlock, answerBlockHeader, answerState } from './block-queries.ts';
import { answerConfigAll, answerConfigParams } from './config-queries.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { answerMasterchainInfo, answerMasterchainInfoExt, answerTime, answerVersion } from './head-queries.ts';
import { answerLibraries, answerLibrariesWithProof } from './library-queries.ts';
import { answerListing, answerListingExt } from './listing-queries.ts';
import { answerLookup, answerLookupWithProof } from './lookup-queries.ts';
import type { MessageInbox } from './message-queries.ts';
import { answerRunMethod } from './method-queries.ts';
import type { MethodRunner } from './method-runner.ts';
import {
  answerBlockQueueSize,
  answerDispatchQueueInfo,
  answerDispatchQueueMessages,
  answerQueueSizes,
} from './queue-queries.ts';
import { answerAllShardsInfo, answerShardBlockProof, answerShardInfo } from './shard-queries.ts';
import { answerValidatorStats } from './statistics-queries.ts';
import { answerOneTransaction, answerTransactions } from './transaction-queries.ts';
import type { ChainView } from '../chain/chain-view.ts';

/** Dependencies of answers besides the chain. */
export type QueryTools = { readonly inbox: MessageInbox; readonly methods: MethodRunner };

type Handler = (view: ChainView, request: Buffer, tools: QueryTools) => Buffer;

function handle<Args, Answer>(
  fn: LiteServerFunction<Args, Answer>,
  answer: (view: ChainView, args: Args, tools: QueryTools) => Answer,
): [number, Handler] {
  return [fn.id, (view, request, tools) => fn.encodeAnswer(answer(view, fn.decodeArgs(request), tools))];
}

/** Handlers of the node's queries. Queries that the node answers only with a command-line option are refused. */
const handlers: ReadonlyMap<number, Handler> = new Map([
  handle(functions.getMasterchainInfo, answerMasterchainInfo),
  handle(functions.getMasterchainInfoExt, answerMasterchainInfoExt),
  handle(functions.getTime, answerTime),
  handle(functions.getVersion, answerVersion),
  handle(functions.getBlock, answerBlock),
  handle(functions.getState, answerState),
  handle(functions.getBlockHeader, answerBlockHeader),
  handle(functions.sendMessage, (view, args, { inbox }) => inbox.accept(view, args)),
  handle(functions.getAccountState, answerAccountState),
  handle(functions.getAccountStatePrunned, answerAccountStatePruned),
  handle(functions.runSmcMethod, (view, args, { methods }) => answerRunMethod(view, args, methods)),
  handle(functions.getShardInfo, answerShardInfo),
  handle(functions.getAllShardsInfo, answerAllShardsInfo),
  handle(functions.getOneTransaction, answerOneTransaction),
  handle(functions.getTransactions, answerTransactions),
  handle(functions.lookupBlock, answerLookup),
  handle(functions.lookupBlockWithProof, answerLookupWithProof),
  handle(functions.listBlockTransactions, answerListing),
  handle(functions.listBlockTransactionsExt, answerListingExt),
  handle(functions.getBlockProof, answerBlockProof),
  handle(functions.getConfigAll, answerConfigAll),
  handle(functions.getConfigParams, answerConfigParams),
  handle(functions.getValidatorStats, answerValidatorStats),
  handle(functions.getLibraries, answerLibraries),
  handle(functions.getLibrariesWithProof, answerLibrariesWithProof),
  handle(functions.getShardBlockProof, answerShardBlockProof),
  handle(functions.getOutMsgQueueSizes, answerQueueSizes),
  handle(functions.getBlockOutMsgQueueSize, answerBlockQueueSize),
  handle(functions.getDispatchQueueInfo, answerDispatchQueueInfo),
  handle(functions.getDispatchQueueMessages, answerDispatchQueueMessages),
  handle(functions.getPendingShardBlocks, () => {
    throw refusal(serverCode.generic, 'query is not allowed');
  }),
]);

/**
 * The answer to a function's bytes (no envelope, no prefix).
 * @throws DevchainError `query_refused` for what `liteServer.error` answers
 */
export function answerQuery(view: ChainView, request: Buffer, tools: QueryTools): Buffer {
  if (request.length < 4) throw refusal(serverCode.generic, 'Not enough data to read at 0');
  const handler = handlers.get(request.readUInt32LE(0));
  if (handler === undefined) throw refusal(serverCode.unknownQuery, 'unknown query');
  try {
    return handler(view, request, tools);
  } catch (error) {
    if (error instanceof TlError) throw refusal(serverCode.generic, error.message);
    throw error;
  }
}
