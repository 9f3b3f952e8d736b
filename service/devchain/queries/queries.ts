import { definitions } from '#service/liteserver/function-table.ts';
import type { LiteServerFunction } from '#service/liteserver/functions.ts';
import { TlError } from '#service/liteserver/tl/errors.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { accountQueries } from './account-queries.ts';
import { blockProofQueries } from './block-proof-queries.ts';
import { blockQueries } from './block-queries.ts';
import { configQueries } from './config-queries.ts';
import { headQueries } from './head-queries.ts';
import { libraryQueries } from './library-queries.ts';
import { listingQueries } from './listing-queries.ts';
import { lookupQueries } from './lookup-queries.ts';
import { messageQueries } from './message-queries.ts';
import { methodQueries } from './method-queries.ts';
import { nonFinalQueries } from './non-final-queries.ts';
import { queueQueries } from './queue-queries.ts';
import { shardQueries } from './shard-queries.ts';
import { statisticsQueries } from './statistics-queries.ts';
import { transactionQueries } from './transaction-queries.ts';
import type { QueryHandlers, QueryTools } from './query-handlers.ts';

/** Handlers of the node's queries. Queries that the node answers only with a command-line option are refused. */
const handlers: QueryHandlers = {
  ...accountQueries,
  ...blockProofQueries,
  ...blockQueries,
  ...configQueries,
  ...headQueries,
  ...libraryQueries,
  ...listingQueries,
  ...lookupQueries,
  ...messageQueries,
  ...methodQueries,
  ...nonFinalQueries,
  ...queueQueries,
  ...shardQueries,
  ...statisticsQueries,
  ...transactionQueries,
};

type Handler = (view: ChainView, request: Buffer, tools: QueryTools) => Buffer;

const byId: ReadonlyMap<number, Handler> = new Map(
  (Object.keys(handlers) as (keyof QueryHandlers)[]).map((name) => [definitions[name].id, handlerOf(name)]),
);

function handlerOf(name: keyof QueryHandlers): Handler {
  // The table pairs each function with a handler of its own arguments and answer.
  const fn = definitions[name] as LiteServerFunction<unknown, unknown>;
  const answer = handlers[name] as (view: ChainView, args: unknown, tools: QueryTools) => unknown;
  return (view, request, tools) => fn.encodeAnswer(answer(view, fn.decodeArgs(request), tools));
}

/**
 * The answer to a function's bytes (no envelope, no prefix).
 * @throws DevchainError `query_refused` for what `liteServer.error` answers
 */
export function answerQuery(view: ChainView, request: Buffer, tools: QueryTools): Buffer {
  if (request.length < 4) throw refusal(serverCode.generic, 'Not enough data to read at 0');
  const handler = byId.get(request.readUInt32LE(0));
  if (handler === undefined) throw refusal(serverCode.unknownQuery, 'unknown query');
  try {
    return handler(view, request, tools);
  } catch (error) {
    if (error instanceof TlError) throw refusal(serverCode.generic, error.message);
    throw error;
  }
}
