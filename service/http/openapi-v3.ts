import type { Operation } from '../contract/operation.ts';
import type { Parameter } from '../contract/parameter.ts';
import { referenceTo, type JsonSchema } from '../contract/shape.ts';
import { nextCursorHeader } from '../v3/request/cursor.ts';
import type { V3Request } from '../v3/request/operation.ts';
import { settingHeaders, TIMEOUT_MS_MAX } from '../v3/request/settings.ts';
import { notAcceptedFields } from '../emulate/request/errors.ts';
import type { Emulate } from '../emulate/emulate.ts';
import type { V3 } from '../v3/v3.ts';
import { jsonContent } from './openapi-failures.ts';
import { basePaths } from './paths.ts';

type V3Operation = Operation<V3Request>;

/** Causes of failures by status (service/v3/README.md#errors). */
const failures: ReadonlyMap<number, string> = new Map([
  [400, 'It is not said what is asked about'],
  [401, 'API key does not exist'],
  [403, 'The key is for another network, address or operation'],
  [404, 'The block or transaction that is asked about is not indexed'],
  [405, 'Wrong method'],
  [409, 'The account is no wallet'],
  [413, 'Request body too large'],
  [422, 'A parameter is missing or not valid'],
  [429, 'Over the limit of the plan'],
  [500, 'A lite server answered with an error, or something of the service failed'],
  [503, 'The index or every lite server is away, or nothing is indexed yet'],
  [504, 'The query took too long'],
]);

/** Statuses that any operation may answer with. */
const commonStatuses: readonly number[] = [401, 403, 405, 422, 429, 500, 503, 504];

const settingSchemas: Readonly<Record<(typeof settingHeaders)[number], JsonSchema>> = {
  'X-Timeout': { type: 'integer', maximum: TIMEOUT_MS_MAX },
  'X-No-Address-Book': { type: 'boolean' },
  'X-No-Metadata': { type: 'boolean' },
  'X-Actions-Version': { type: 'string' },
};

/** Facts of a contract in the form of v3, for its document. */
type DescribedContract = {
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  /** Failures that any operation may answer with, besides those of v3 or in place of theirs. */
  readonly ownFailures: ReadonlyMap<number, string>;
  /** True when optional fields of a body may be null. */
  readonly showsNull: boolean;
  /** Headers that an operation reads. */
  readonly headersOf: (operation: V3Operation) => readonly SettingHeader[];
  /** Fields of a failure besides those of v3. */
  readonly errorFields: Readonly<Record<string, JsonSchema>>;
};

type SettingHeader = (typeof settingHeaders)[number];

/** The OpenAPI 3.1 document of v3, made from its operations. */
export function describeV3(v3: V3): JsonSchema {
  return describeContract(v3, {
    path: basePaths.v3,
    title: 'TON HTTP API v3',
    summary: 'The index of the blockchain',
    ownFailures: new Map(),
    showsNull: false,
    headersOf: (operation) =>
      settingHeaders.filter((header) => header !== 'X-Actions-Version' || hasActions(operation)),
    errorFields: {},
  });
}

/** The OpenAPI 3.1 document of the emulation. */
export function describeEmulate(emulate: Emulate): JsonSchema {
  return describeContract(emulate, {
    path: basePaths.emulate,
    title: 'TON emulation API v1',
    summary: 'Results of a message, before it is sent',
    ownFailures: new Map([
      [400, 'The body is no JSON object'],
      [422, 'A field is missing or not valid, or the message is not accepted'],
      [503, 'The index or every lite server is away, or too many emulations wait'],
      [504, 'The request or the runs of its contracts took too long'],
    ]),
    showsNull: true,
    headersOf: () => ['X-Timeout', 'X-Actions-Version'],
    errorFields: notAcceptedFields,
  });
}

function describeContract(
  { operations, version }: Pick<V3, 'operations' | 'version'>,
  contract: DescribedContract,
): JsonSchema {
  const { path, title, summary, errorFields } = contract;
  const headers = new Set(operations.flatMap((operation) => contract.headersOf(operation)));
  const paths = operations.flatMap((operation) =>
    [operation.name, ...operation.aliases].map((name) => [
      `${path}/${name}`,
      Object.fromEntries(
        operation.methods.map((method) => [method.toLowerCase(), describe(operation, { name, method, contract })]),
      ),
    ]),
  );
  return {
    openapi: '3.1.0',
    info: { title, version, summary, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(paths) as JsonSchema,
    components: {
      securitySchemes: {
        APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        APIKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
      },
      parameters: Object.fromEntries(
        [...headers].map((name) => [
          componentOf(name),
          { name, in: 'header', required: false, schema: settingSchemas[name] },
        ]),
      ),
      schemas: {
        Error: {
          type: 'object',
          required: ['ok', 'code', 'error'],
          properties: {
            ok: { const: false },
            code: { type: 'integer' },
            error: { type: 'string', minLength: 1 },
            ...errorFields,
          },
          additionalProperties: false,
        },
        ...Object.fromEntries(operations.flatMap(({ result }) => [...result.definitions])),
      },
    },
  };
}

type DescribedPath = {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly contract: DescribedContract;
};

function describe(operation: V3Operation, { name, method, contract }: DescribedPath): JsonSchema {
  const statuses = new Set([
    ...commonStatuses,
    ...contract.ownFailures.keys(),
    ...(operation.failures ?? []),
    ...(method === 'POST' ? [413] : []),
  ]);
  const failed = [...statuses]
    .toSorted((a, b) => a - b)
    .map((status) => [
      status.toString(),
      {
        description: contract.ownFailures.get(status) ?? failures.get(status) ?? 'The operation is refused',
        headers: answerHeaders,
        content: jsonContent({ $ref: referenceTo('Error') }),
      },
    ]);
  return {
    operationId: `${method.toLowerCase()}_${name.replaceAll('/', '_')}`,
    tags: [operation.tag],
    summary: operation.summary,
    security: [{}, { APIKeyHeader: [] }, { APIKeyQuery: [] }],
    parameters: [
      ...(method === 'GET' ? operation.parameters.map(describeQuery) : []),
      ...contract.headersOf(operation).map((header) => ({ $ref: `#/components/parameters/${componentOf(header)}` })),
    ],
    ...(method === 'POST' && {
      requestBody: { required: true, content: jsonContent(bodySchema(operation, contract)) },
    }),
    responses: {
      '200': { description: 'OK', headers: headersOf(operation), content: jsonContent(operation.result.schema) },
      ...(Object.fromEntries(failed) as JsonSchema),
    },
  };
}

const answerHeaders: JsonSchema = {
  'X-API-Version': { schema: { type: 'string', pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' } },
  'Server-timing': { schema: { type: 'string' } },
};

/** Lists that accept a cursor also return a cursor. */
function headersOf({ parameters }: V3Operation): JsonSchema {
  if (!parameters.some(({ name }) => name === 'cursor')) return answerHeaders;
  return { ...answerHeaders, [nextCursorHeader]: { required: false, schema: { type: 'string' } } };
}

function describeQuery(parameter: Parameter<unknown>): JsonSchema {
  return {
    name: parameter.name,
    in: 'query',
    required: parameter.missing !== undefined,
    schema: valueSchema(parameter),
    ...(parameter.repeats === true && { style: 'form', explode: true }),
  };
}

function bodySchema({ parameters, bodyRules }: V3Operation, { showsNull }: DescribedContract): JsonSchema {
  const required = parameters.filter(({ missing }) => missing !== undefined).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map((parameter) => {
        const schema = valueSchema(parameter);
        return [parameter.name, showsNull && parameter.missing === undefined ? orNull(schema) : schema];
      }),
    ),
    ...(required.length > 0 && { required }),
    ...bodyRules,
  };
}

/** A schema of one type that also takes null. */
function orNull(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema['type'], 'null'] };
}

/** True when a caller may name the actions that it supports. */
function hasActions({ parameters }: V3Operation): boolean {
  return parameters.some(({ name }) => name === 'supported_action_types');
}

/** The empty default of lists is implied. */
function valueSchema({ input, repeats, fallback }: Parameter<unknown>): JsonSchema {
  if (repeats === true) return { type: 'array', items: input.schema };
  return fallback === undefined ? input.schema : { ...input.schema, default: fallback };
}

/** `X-No-Metadata` -> `XNoMetadata`. */
function componentOf(header: string): string {
  return header.replaceAll('-', '');
}
