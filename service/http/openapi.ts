import type { Operation } from '../contract/operation.ts';
import type { Parameter } from '../contract/parameter.ts';
import { referenceTo, type JsonSchema } from '../contract/shape.ts';
import type { V2 } from '../v2/v2.ts';
import {
  anyRpcFailure,
  describeFailures,
  failureSchemas,
  headersOf,
  jsonContent,
  rpcFields,
} from './openapi-failures.ts';

const extra: JsonSchema = {
  type: 'string',
  pattern: '^(?:_|\\d+(?:\\.\\d+)?:(?:_|\\d+(?:,\\d+)*):\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?(?::c)?)$',
  description: 'unix time, lite servers used, elapsed ms, cache mark',
};

const rpcId: JsonSchema = { type: ['string', 'number', 'null'] };

/** Schema of this document itself. */
const documentSchema: JsonSchema = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.' },
    info: {
      type: 'object',
      required: ['title', 'version'],
      properties: { title: { type: 'string' }, version: { type: 'string', pattern: '^2\\.\\d+\\.\\d+$' } },
    },
    paths: { type: 'object' },
  },
};

/** The OpenAPI 3.1 document of the contract, made from its operations. */
export function describeV2(v2: V2): JsonSchema {
  const paths = v2.operations.flatMap((operation) =>
    [operation.name, ...operation.aliases].map((name) => [`/api/v2/${name}`, describeOperation(operation, name)]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'TON HTTP API v2',
      version: v2.version,
      summary: 'Verified answers from lite servers',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{}, { ApiKeyHeader: [] }, { ApiKeyQuery: [] }],
    paths: {
      ...(Object.fromEntries(paths) as JsonSchema),
      '/api/v2/jsonRPC': { post: describeRpc(v2) },
      '/api/v2/healthcheck': { get: describePage('healthcheckV2', 'Liveness', { const: 'OK' }) },
      '/healthcheck': { get: describePage('healthcheck', 'Liveness', { const: 'OK' }) },
      '/api/v2/openapi.json': { get: describePage('openapi', 'This document', documentSchema) },
    },
    components: {
      securitySchemes: {
        ApiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        ApiKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
      },
      headers: {
        ApiVersion: { required: true, schema: { type: 'string', pattern: '^2\\.\\d+\\.\\d+$' } },
        AllowOrigin: { schema: { type: 'string' } },
        Allow: { schema: { type: 'string' } },
        RetryAfter: { description: 'Seconds', schema: { type: 'integer', minimum: 0 } },
      },
      schemas: describeSchemas(v2),
    },
  };
}

function describeSchemas(v2: V2): JsonSchema {
  const named = v2.operations.flatMap((operation) => [
    ...operation.result.definitions,
    ...operation.parameters.flatMap(({ input }) => [[input.name, input.schema] as const, ...(input.definitions ?? [])]),
    [`${pascal(operation.name)}Request`, requestSchema(operation)] as const,
    [`${pascal(operation.name)}Response`, successSchema(operation, {})] as const,
    [`${pascal(operation.name)}RpcResponse`, successSchema(operation, rpcFields)] as const,
  ]);
  return {
    Extra: extra,
    RpcId: rpcId,
    RpcErrorEnvelope: anyRpcFailure,
    ...failureSchemas(),
    ...Object.fromEntries(named),
  };
}

function describeOperation(operation: Operation, name: string): JsonSchema {
  const common = {
    tags: [operation.tag],
    summary: operation.summary,
    responses: responses({ $ref: referenceTo(`${pascal(operation.name)}Response`) }, failureStatuses(operation)),
  };
  const get = {
    ...common,
    operationId: name,
    ...(operation.parameters.length > 0 && { parameters: operation.parameters.map(describeQuery) }),
  };
  const post = {
    ...common,
    operationId: operation.methods.includes('GET') ? `${name}ByPost` : name,
    requestBody: {
      required: operation.parameters.some(({ missing }) => missing !== undefined),
      content: jsonContent({ $ref: referenceTo(`${pascal(operation.name)}Request`) }),
    },
  };
  return {
    ...(operation.methods.includes('GET') && { get }),
    ...(operation.methods.includes('POST') && { post }),
  };
}

function describeQuery(parameter: Parameter<unknown>): JsonSchema {
  return {
    name: parameter.name,
    in: 'query',
    required: parameter.missing !== undefined,
    schema: inputSchema(parameter),
    ...(parameter.repeats === true && { style: 'form', explode: true }),
  };
}

function describeRpc(v2: V2): JsonSchema {
  const names = v2.operations.flatMap((operation) => [operation.name, ...operation.aliases]);
  const request = {
    type: 'object',
    required: ['method'],
    properties: {
      jsonrpc: { type: 'string' },
      id: { $ref: referenceTo('RpcId') },
      method: { type: 'string', enum: names },
      params: { type: ['object', 'array', 'null'], maxItems: 0 },
    },
  };
  const success = {
    anyOf: v2.operations.map((operation) => ({ $ref: referenceTo(`${pascal(operation.name)}RpcResponse`) })),
  };
  const failure = { $ref: referenceTo('RpcErrorEnvelope') };
  const batch = { type: 'array', minItems: 1, items: { anyOf: [success, failure] } };
  return {
    operationId: 'jsonRPC',
    tags: ['rpc'],
    summary: 'Any operation by name; an array of calls is answered by an array.',
    requestBody: {
      required: true,
      content: jsonContent({ oneOf: [request, { type: 'array', items: request, minItems: 1 }] }),
    },
    responses: responses({ anyOf: [success, batch] }),
  };
}

function describePage(operationId: string, summary: string, schema: JsonSchema): JsonSchema {
  const ok = { description: summary, headers: headersOf(200), content: jsonContent(schema) };
  const wrongMethod = describeFailures([])['405'];
  return { operationId, tags: ['service'], summary, security: [], responses: { '200': ok, '405': wrongMethod } };
}

/** Statuses that this operation has and others do not. */
function failureStatuses({ failures = [], refusalStatus }: Operation): number[] {
  return [...failures, ...(refusalStatus === undefined ? [] : [refusalStatus])];
}

/** @param statuses failures that only some operations have; omitted for JSON-RPC, which has all */
function responses(success: JsonSchema, statuses?: readonly number[]): JsonSchema {
  return {
    '200': { description: 'Success', headers: headersOf(200), content: jsonContent(success) },
    ...describeFailures(statuses),
  };
}

/** Returns the schema of a POST body and of JSON-RPC's `params`. Unknown fields are ignored. Null counts as absent for optional fields. */
function requestSchema(operation: Operation): JsonSchema {
  const properties = operation.parameters.map((parameter) => {
    const schema = inputSchema(parameter);
    const { name, missing } = parameter;
    const nullable = { anyOf: [schema, { type: 'null' }], ...defaultOf(parameter) };
    return [name, missing === undefined ? nullable : schema] as const;
  });
  const required = operation.parameters.filter(({ missing }) => missing !== undefined).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...operation.bodyRules,
  };
}

function inputSchema(parameter: Parameter<unknown>): JsonSchema {
  const item = { $ref: referenceTo(parameter.input.name) };
  const schema = parameter.repeats === true ? { type: 'array', items: item } : item;
  return parameter.fallback === undefined ? schema : { allOf: [schema], ...defaultOf(parameter) };
}

/** A default is small enough for a JSON number. */
function defaultOf({ fallback }: Parameter<unknown>): JsonSchema {
  if (fallback === undefined) return {};
  return { default: typeof fallback === 'bigint' ? Number(fallback) : fallback };
}

function successSchema(operation: Operation, fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'object',
    required: ['ok', 'result', '@extra', ...('jsonrpc' in fields ? ['jsonrpc'] : [])],
    properties: {
      ok: { const: true },
      result: operation.result.schema,
      '@extra': { $ref: referenceTo('Extra') },
      ...fields,
    },
    additionalProperties: false,
  };
}

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
