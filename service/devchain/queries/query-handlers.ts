import type { AnswerOf, ArgsOf } from '#service/liteserver/functions.ts';
import type { definitions } from '#service/liteserver/function-table.ts';
import type { ChainView } from '../chain/chain-view.ts';
import type { MessageInbox } from './message-queries.ts';
import type { MethodRunner } from './method-runner.ts';

/** Dependencies of answers besides the chain. */
export type QueryTools = { readonly inbox: MessageInbox; readonly methods: MethodRunner };

type Definitions = typeof definitions;

/** Handlers, one for each function. A function without a handler is a type error in queries.ts. */
export type QueryHandlers = {
  readonly [Name in keyof Definitions]: (
    view: ChainView,
    args: ArgsOf<Definitions[Name]>,
    tools: QueryTools,
  ) => AnswerOf<Definitions[Name]>;
};
