/*
 * Operations of v3 are data in their family's file: kinds of parameters (parameters.ts), scalars (scalars.ts) and shapes (contract/shape.ts).
 * The path, document, errors, limits, metrics and tests of an operation follow from its definition.
 *
 * ```
 *   export function blockOperations(): readonly V3Operation[] {
 *     return [
 *       defineV3Operation({
 *         name: 'blocks',                                  // path /api/v3/blocks, any case; with a slash: 'jetton/wallets'
 *         tag: 'blockchain',
 *         summary: 'Blocks that match all filters.',
 *         parameters: { workchain: int32('workchain'), ...paging },  // absent: undefined, [] for lists, the default for limit, offset, sort
 *         rule: { schema: {}, check: (values) => ... },    // optional: conditions between parameters (422)
 *         result: blocksResponse,                          // Shape: `handle` returns Infer of it
 *         rows: ({ limit }) => 5 * limit,                  // optional: rows of an answer, if they differ from the limit
 *         flat: true,                                      // items of its lists and maps are small: some milliseconds of JSON at most
 *         sameForBlock: isNewestPage,                      // optional: requests whose answer is cached until the index changes
 *         failures: [404],                                 // statuses besides the common statuses
 *         handle: async (values, { store, settings, signal }) => ({ blocks: (await findBlocks(store, values)).map(viewBlock) }),
 *       }),
 *     ];
 *   }
 * ```
 *
 * `store.read` has the time limit of the request's queries (X-Timeout): a query above it throws and is reported as 504.
 * Failures of the contract are thrown as V3Error (errors.ts). A family's function has its dependencies as arguments; v3.ts lists families.
 * Methods default to GET (HEAD with it). A POST reads its parameters from the fields of a JSON object.
 */
import {
  defineOperation,
  localAnswer,
  type Operation,
  type OperationDefinition,
  type OperationMethod,
} from '#service/contract/operation.ts';
import { markFlat, type RawJson } from '#service/contract/json-stream.ts';
import type { Parameters, Values } from '#service/contract/parameter.ts';
import type { ReadContext } from '#service/contract/answer.ts';
import type { Semaphore } from '#service/runtime/semaphore.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { RequestSettings } from './settings.ts';

/** Data of the request besides its parameters. */
export type V3Request = ReadContext & {
  readonly settings: RequestSettings;
  /** Called with the cursor of the next page (cursor.ts). */
  readonly onNextPage: (cursor: string) => void;
};

/** Context of a handler. */
export type V3Context = V3Request & {
  readonly store: StoreReader;
  /** Slots for the rows of all answers in progress. */
  readonly rowSlots: Semaphore;
  /** Cached answers of operations with `sameForBlock`. */
  readonly answers: AnswerCache;
};

/** Cache of whole answers (../answer-cache.ts). */
export type AnswerCache = {
  /**
   * Returns the JSON of `make`, cached or made now, and reports the cursor of its next page. Callers at the same state share one `make`.
   * A failure reaches only the caller whose context the failed `make` has.
   * @param name of the operation
   * @param values parsed parameters
   */
  find<R extends object>(
    name: string,
    values: Readonly<Record<string, unknown>>,
    context: V3Context,
    make: (context: V3Context) => Promise<R>,
  ): Promise<R | RawJson<R>>;
};

/** An operation of a family, and of the contract after `createV3` has added the store. */
export type V3Operation = Operation<V3Context>;

/** Definition of an operation of v3: fields of every contract and of v3. Its name is unique in any case. */
export type V3OperationDefinition<P extends Parameters, R> = Omit<
  OperationDefinition<P, R, V3Context>,
  'methods' | 'handle'
> & {
  /** Default: GET, with HEAD. */
  readonly methods?: readonly OperationMethod[];
  /** The items of its lists and maps are small: some milliseconds of JSON at most (`markFlat`). */
  readonly flat?: boolean;
  /** Rows of an answer, each as large as a transaction. Default: the number that the caller asks for or names. */
  readonly rows?: (values: Values<P>) => number;
  /**
   * True for requests that many callers repeat, and whose answer depends on the index, the parameters and the settings alone. The answer is
   * cached until the index changes. Default: never.
   */
  readonly sameForBlock?: (values: Values<P>) => boolean;
  readonly handle: (values: Values<P>, context: V3Context) => Promise<R>;
};

/** Answers of at most this many rows are small: they start at once under any load. */
const ROWS_ALWAYS_FINE = 10;

/** At most as many as the limit, or as the longest list of names. */
function rowsAskedFor(values: Readonly<Record<string, unknown>>): number {
  const { limit } = values;
  if (typeof limit === 'number') return limit;
  return Object.values(values).reduce<number>(
    (most, value) => Math.max(most, Array.isArray(value) ? value.length : 0),
    1,
  );
}

/** Closes a definition over its types. */
export function defineV3Operation<const P extends Parameters, R extends object>(
  definition: V3OperationDefinition<P, R>,
): V3Operation {
  const { handle, methods = ['GET'], flat = false, rows = rowsAskedFor, sameForBlock, ...rest } = definition;
  const make = async (values: Values<P>, context: V3Context): Promise<R> => {
    const count = rows(values);
    const answer = await (count <= ROWS_ALWAYS_FINE
      ? handle(values, context)
      : context.rowSlots.run(context.signal, () => handle(values, context), count));
    return flat ? markFlat(answer) : answer;
  };
  return defineOperation<P, R | RawJson<R>, V3Context>({
    ...rest,
    methods,
    handle: async (values, context) =>
      localAnswer(
        sameForBlock?.(values) === true
          ? await context.answers.find(rest.name, values, context, (within) => make(values, within))
          : await make(values, context),
      ),
  });
}
