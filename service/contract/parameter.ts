import { invalid } from './errors.ts';
import type { JsonSchema } from './shape.ts';

/** Source of raw values: `query` gives text, `body` gives JSON values (integers beyond 2^53 as bigint). */
export type ParameterSource = {
  readonly kind: 'query' | 'body';
  /** Names of all given values, as parameters name them. */
  readonly names: readonly string[];
  /** The raw value; undefined when absent. */
  get(name: string): unknown;
  /** Like `get`, with all values of a name that a query repeats, as an array. */
  getAll(name: string): unknown;
};

/**
 * Parameter of an operation: its parser, its constraints, and its part of the document.
 * Its messages are the same for every source of the value.
 */
export type Parameter<T> = {
  readonly name: string;
  /** Shown to the caller when the value is absent; undefined for an optional parameter. */
  readonly missing: string | undefined;
  /** Takes an array; a query repeats the name. `input` is that of one item. */
  readonly repeats?: boolean;
  /** An empty text counts as absent. */
  readonly emptyIsAbsent?: boolean;
  /** Raw value (never undefined or null) to value; throws ContractError. */
  parse(raw: unknown, kind: ParameterSource['kind']): T;
  /** Fault of a parsed value; undefined when there is none. */
  check(value: T): string | undefined;
  /** Stands for an absent value; only of parameters that have one. */
  readonly fallback?: T;
  /** Name and schema of the input in the document, and the named schemas that it refers to. */
  readonly input: {
    readonly name: string;
    readonly schema: JsonSchema;
    readonly definitions?: ReadonlyMap<string, JsonSchema>;
  };
};

/** A parameter that may be left out. */
export type OptionalParameter<T> = Parameter<T> & { readonly missing: undefined };

/** A parameter that has a value when it is left out; the document shows it as the default. */
export type DefaultedParameter<T> = Parameter<T> & { readonly missing: undefined; readonly fallback: T };

/** Gives an optional parameter a value for when it is absent. */
export function withDefault<T>(parameter: OptionalParameter<T>, fallback: T): DefaultedParameter<T> {
  return { ...parameter, fallback };
}

/** Rule between the parameters of one operation. */
export type ParameterRule<P extends Parameters> = {
  /** Equivalent keywords in the schema of a POST body. */
  readonly schema: JsonSchema;
  /** Fault of values that are each valid; undefined when there is none. */
  check(values: Values<P>, kind: ParameterSource['kind']): string | undefined;
};

/** Requires exactly one of some optional parameters. @param message for the caller otherwise */
export function exactlyOne(parameters: Parameters, message: string) {
  return {
    schema: { oneOf: Object.values(parameters).map(({ name }) => ({ required: [name] })) },
    check: (values: Readonly<Record<string, unknown>>): string | undefined =>
      Object.keys(parameters).filter((field) => values[field] !== undefined).length === 1 ? undefined : message,
  };
}

/** A parameter that must be given. */
export type RequiredParameter<T> = Parameter<T> & { readonly missing: string };

/** Field of the handler's argument -> parameter. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** Input of a handler: optional parameters may be undefined. */
export type Values<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends RequiredParameter<infer T> | DefaultedParameter<infer T>
    ? T
    : P[K] extends OptionalParameter<infer T>
      ? T | undefined
      : never;
};

/** Reads all parameters, then checks all (service/v2/README.md#validation-messages). Throws ContractError with the first message. */
export function readParameters<P extends Parameters>(
  parameters: P,
  source: ParameterSource,
  rule?: ParameterRule<P>,
): Values<P> {
  const values: Record<string, unknown> = {};
  for (const field in parameters) values[field] = readParameter(parameters[field]!, source);
  for (const field in parameters) {
    const value = values[field];
    const message = value === undefined ? undefined : parameters[field]!.check(value);
    if (message !== undefined) throw invalid(message, parameters[field]!.name);
  }
  const all = values as Values<P>;
  const conflict = rule?.check(all, source.kind);
  if (conflict !== undefined) throw invalid(conflict);
  return all;
}

function readParameter(parameter: Parameter<unknown>, source: ParameterSource): unknown {
  const raw = parameter.repeats === true ? source.getAll(parameter.name) : source.get(parameter.name);
  const isAbsent = raw === undefined || raw === null || (raw === '' && parameter.emptyIsAbsent === true);
  if (!isAbsent) return parameter.parse(raw, source.kind);
  if (parameter.missing !== undefined) throw invalid(parameter.missing, parameter.name);
  return parameter.fallback;
}

/** Query text; the first value of a name counts where the name does not repeat. */
export function querySource(query: URLSearchParams): ParameterSource {
  return {
    kind: 'query',
    names: [...new Set(query.keys())],
    get: (name) => query.get(name) ?? undefined,
    getAll: (name) => (query.has(name) ? query.getAll(name) : undefined),
  };
}

/** Fields of a JSON object; what an object inherits is not a field. */
export function bodySource(body: Readonly<Record<string, unknown>>): ParameterSource {
  const get = (name: string): unknown => (Object.hasOwn(body, name) ? body[name] : undefined);
  return { kind: 'body', names: Object.keys(body), get, getAll: get };
}
