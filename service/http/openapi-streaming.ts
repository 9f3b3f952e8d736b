import { referenceTo, type JsonSchema } from '../contract/shape.ts';
import { frameShapes } from '../streaming/frames.ts';
import { messageSchemas, subscriptionFields } from '../streaming/request/messages.ts';
import { jsonContent } from './openapi-failures.ts';
import { basePaths, ssePath, wsPath } from './paths.ts';

const text: JsonSchema = { type: 'string' };
const failures: readonly (readonly [status: number, description: string])[] = [
  [400, 'A field of the subscription is not valid'],
  [401, 'API key does not exist'],
  [403, 'The key is for another network, address or operation'],
  [405, 'Wrong method'],
  [429, 'Over the rate or the connections of the plan'],
];

/** The OpenAPI 3.1 document of streaming. OpenAPI has no WebSockets: their path has the refusal of a request without an upgrade. */
export function describeStreaming(version: string): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'TON streaming API v2',
      version,
      summary: 'Events of accounts and traces as they happen',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths: {
      [ssePath]: {
        get: {
          ...operation('get_sse', 'A stream for EventSource of a browser'),
          parameters: [lastEventId, ...Object.entries(subscriptionFields).map(describeQuery)],
          // 503 and 504 are streams that say when to come back: an EventSource gives up at any status but 200.
          responses: streamResponses([414]),
        },
        post: {
          ...operation('post_sse', 'A stream of server-sent events'),
          parameters: [lastEventId],
          requestBody: { required: true, content: jsonContent({ $ref: referenceTo('Subscription') }) },
          responses: streamResponses([408, 413, 415, 503, 504]),
        },
      },
      [wsPath]: {
        get: {
          ...operation(
            'get_ws',
            'Upgrade to a WebSocket. Its messages are Subscribe, Unsubscribe and Ping, its frames Event, Subscribed, Unsubscribed, Pong and Refusal',
          ),
          responses: {
            '101': { description: 'The connection is a WebSocket' },
            '426': failure('Upgrade Required'),
            ...failed([503]),
          },
        },
      },
      [`${basePaths.streaming}/healthz`]: {
        get: {
          operationId: 'get_healthz',
          tags: ['streaming'],
          summary: 'State of the parts that streams depend on',
          responses: {
            '200': { description: 'All parts are well', content: jsonContent({ $ref: referenceTo('Health') }) },
            '503': { description: 'A part is late', content: jsonContent({ $ref: referenceTo('Health') }) },
          },
        },
      },
    },
    components: {
      securitySchemes: {
        APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        APIKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
      },
      schemas: {
        Error: error,
        Health: health,
        ...messageSchemas,
        ...Object.fromEntries(frameShapes.flatMap(({ definitions }) => [...definitions])),
      },
    },
  };
}

const error: JsonSchema = {
  type: 'object',
  required: ['ok', 'code', 'error'],
  properties: { ok: { const: false }, code: { type: 'integer' }, error: { ...text, minLength: 1 }, id: text },
  additionalProperties: false,
};

const health: JsonSchema = {
  type: 'object',
  required: ['ok', 'now', 'components'],
  properties: {
    ok: { type: 'boolean' },
    now: { type: 'integer' },
    components: {
      type: 'object',
      additionalProperties: { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' }, error: text } },
    },
  },
};

const lastEventId: JsonSchema = { name: 'Last-Event-ID', in: 'header', required: false, schema: text };

function operation(operationId: string, summary: string): JsonSchema {
  return { operationId, tags: ['streaming'], summary, security: [{}, { APIKeyHeader: [] }, { APIKeyQuery: [] }] };
}

function describeQuery([name, schema]: readonly [string, JsonSchema]): JsonSchema {
  const isList = schema['type'] === 'array';
  return { name, in: 'query', required: name === 'types', schema, ...(isList && { style: 'form', explode: true }) };
}

const furtherFailures: ReadonlyMap<number, string> = new Map([
  [408, 'The body took too long'],
  [413, 'Request body too large'],
  [414, 'Request URL too long'],
  [415, 'The body is not declared as JSON'],
  [503, 'No room for a stream, or the process ends'],
  [504, 'The request took too long'],
]);

function streamResponses(further: readonly number[]): JsonSchema {
  const events = { 'text/event-stream': { schema: text } };
  return {
    '200': {
      description: 'A stream that does not end. Its data are Subscribed, then Event, and Closing at the end',
      content: events,
    },
    ...failed(further),
  };
}

function failed(further: readonly number[]): Readonly<Record<string, JsonSchema>> {
  const rows = [...failures, ...further.map((status) => [status, furtherFailures.get(status) ?? ''] as const)];
  return Object.fromEntries(rows.map(([status, description]) => [status.toString(), failure(description)]));
}

function failure(description: string): JsonSchema {
  return { description, content: jsonContent({ $ref: referenceTo('Error') }) };
}
