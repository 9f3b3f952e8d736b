import { referenceTo, type JsonSchema } from '../contract/shape.ts';

/** Meaning of a status. `error` is present when its text is constant or has a fixed form. */
type FailureRow = { readonly description: string; readonly error?: JsonSchema };

const anyText: JsonSchema = { type: 'string', minLength: 1 };

/** Statuses of operations besides 200 (service/v2/README.md#statuses). */
const rows: ReadonlyMap<number, FailureRow> = new Map<number, FailureRow>([
  [400, { description: 'The message is refused' }],
  [401, { description: 'API key does not exist', error: { const: 'API key does not exist' } }],
  [403, { description: 'The key is for another network', error: { const: 'Network not allowed' } }],
  [404, { description: 'Nothing is found', error: { const: 'transaction not found' } }],
  [405, { description: 'Wrong method' }],
  [409, { description: 'No token contract', error: { const: 'Smart contract is not Jetton or NFT' } }],
  [413, { description: 'Request body too large' }],
  [
    422,
    {
      description: 'A parameter is missing or not valid',
      error: { ...anyText, pattern: '^(?!failed to (?:parse (?:get|post) request|validate request): )' },
    },
  ],
  [429, { description: 'Over the limit of the plan', error: { ...anyText, pattern: '^Ratelimit exceeded' } }],
  [500, { description: 'A lite server answered with an error, or its proof does not hold' }],
  [503, { description: 'No lite server is usable' }],
  [504, { description: 'No lite server answered in time', error: { const: 'LITE_SERVER_NETWORK timeout' } }],
  [533, { description: 'The result is nested too deep' }],
  [542, { description: 'No archival lite server, or a stack entry of an unknown type' }],
]);

/** Statuses that any operation may answer with. */
const commonStatuses: readonly number[] = [401, 403, 405, 413, 422, 429, 500, 503, 504];

/** Additional fields of JSON-RPC answers. */
export const rpcFields: Readonly<Record<string, JsonSchema>> = {
  jsonrpc: { const: '2.0' },
  id: { $ref: referenceTo('RpcId') },
};

/** Name of the schema of a failure. */
function nameOf(status: number, isRpc: boolean): string {
  return `${isRpc ? 'Rpc' : ''}Error${status}`;
}

/** The schemas that `describeFailures` refers to. */
export function failureSchemas(): JsonSchema {
  const named = [...rows].flatMap(([status, { error = anyText }]) => {
    const fields = { error, code: { const: status } };
    // Over JSON-RPC a 404 may also be an operation that is not there.
    const rpcError = status === 404 ? anyText : error;
    return [
      [nameOf(status, false), failureSchema(fields)] as const,
      [nameOf(status, true), failureSchema({ ...fields, error: rpcError }, rpcFields)] as const,
    ];
  });
  return Object.fromEntries(named);
}

/**
 * Describes the answers besides 200.
 * @param statuses statuses that only some operations have; undefined for JSON-RPC, which has all
 */
export function describeFailures(statuses: readonly number[] | undefined): JsonSchema {
  const isRpc = statuses === undefined;
  const shown = statuses === undefined ? [...rows.keys()] : [...commonStatuses, ...statuses];
  const answers = shown
    .toSorted((a, b) => a - b)
    .map((status) => [
      status.toString(),
      {
        description: rows.get(status)?.description ?? 'The operation is refused',
        headers: headersOf(status),
        content: jsonContent({ $ref: referenceTo(nameOf(status, isRpc)) }),
      },
    ]);
  return Object.fromEntries(answers) as JsonSchema;
}

/** Headers of an answer. */
export function headersOf(status: number): JsonSchema {
  return {
    'X-API-Version': { $ref: '#/components/headers/ApiVersion' },
    'Access-Control-Allow-Origin': { $ref: '#/components/headers/AllowOrigin' },
    ...((status === 429 || status === 503) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
    ...(status === 405 && { Allow: { $ref: '#/components/headers/Allow' } }),
  };
}

export function jsonContent(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}

/** The envelope of a failure (service/v2/README.md#envelope). */
export function failureSchema(
  { error, code }: { readonly error: JsonSchema; readonly code: JsonSchema },
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return {
    type: 'object',
    required: ['ok', 'error', 'code'],
    properties: { ok: { const: false }, error, code, '@extra': { $ref: referenceTo('Extra') }, ...more },
    additionalProperties: false,
  };
}

/** Any failure over JSON-RPC, as an entry of a batch. */
export const anyRpcFailure: JsonSchema = failureSchema(
  { error: anyText, code: { type: 'integer', minimum: 400, maximum: 599 } },
  rpcFields,
);
