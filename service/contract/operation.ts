import type { LiveAnswer, ReadContext } from './answer.ts';
import {
  readParameters,
  type Parameter,
  type ParameterRule,
  type Parameters,
  type ParameterSource,
  type Values,
} from './parameter.ts';
import type { JsonSchema, Shape } from './shape.ts';

export type OperationMethod = 'GET' | 'POST';

/** Operation of a contract as data. Parsing, limits, errors and documents are derived from it once. */
export type OperationDefinition<P extends Parameters, R, C extends ReadContext = ReadContext> = {
  /** Name in the path and, in v2, as JSON-RPC method. */
  readonly name: string;
  /** Further names of the same operation, for paths and JSON-RPC. */
  readonly aliases?: readonly string[];
  readonly methods: readonly OperationMethod[];
  /** Groups operations in the document. */
  readonly tag: string;
  /** Sentence for the document. */
  readonly summary: string;
  readonly parameters: P;
  readonly rule?: ParameterRule<P>;
  readonly result: Shape<R>;
  /** Statuses of failures that only some operations have, for the document. */
  readonly failures?: readonly number[];
  /** Status in place of 500 when a lite server or a check refuses. */
  readonly refusalStatus?: number;
  /** Throws what live throws. */
  readonly handle: (values: Values<P>, context: C) => Promise<LiveAnswer<R>>;
};

/** Operation with hidden parameter and result types. @template C context of the request */
export type Operation<C extends ReadContext = ReadContext> = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly methods: readonly OperationMethod[];
  /** Groups operations in the document. */
  readonly tag: string;
  readonly summary: string;
  readonly parameters: readonly Parameter<unknown>[];
  /** Keywords of the POST body's schema besides its fields. */
  readonly bodyRules: JsonSchema;
  readonly result: Shape<unknown>;
  /** Statuses of failures that only some operations have, for the document. */
  readonly failures?: readonly number[];
  /** Status in place of 500 when a lite server or a check refuses. */
  readonly refusalStatus?: number;
  /** Reads the parameters and runs: throws ContractError for the caller's mistakes, before anything is asked, and what live throws. */
  run(source: ParameterSource, context: C): Promise<LiveAnswer<unknown>>;
};

/** Closes a definition over its types. */
export function defineOperation<const P extends Parameters, R, C extends ReadContext = ReadContext>(
  definition: OperationDefinition<P, R, C>,
): Operation<C> {
  const { parameters, rule, handle, aliases = [], ...rest } = definition;
  return {
    ...rest,
    aliases,
    parameters: Object.values(parameters),
    bodyRules: rule?.schema ?? {},
    run: async (source, context) => handle(readParameters(parameters, source, rule), context),
  };
}

/** The same answer with its value shown in the contract's form. */
export function mapAnswer<A, B>(answer: LiveAnswer<A>, view: (value: A) => B): LiveAnswer<B> {
  return { value: view(answer.value), liteServers: answer.liteServers, cached: answer.cached };
}

/** The same answer like `mapAnswer`, with a view that pauses. */
export async function mapAnswerLater<A, B>(
  answer: LiveAnswer<A>,
  view: (value: A) => Promise<B>,
): Promise<LiveAnswer<B>> {
  return { value: await view(answer.value), liteServers: answer.liteServers, cached: answer.cached };
}

/** An answer that was made here: no lite server was asked, and no cache either. */
export function localAnswer<T>(value: T): LiveAnswer<T> {
  return { value, liteServers: [], cached: false };
}
