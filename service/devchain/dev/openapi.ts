import type { MethodName, MethodParameter, MethodRow } from './method-table.ts';
import { methodRows } from './method-table.ts';

/** Values that each kind of parameter may have, as an example. */
const examples: Readonly<Record<MethodParameter['kind'], unknown>> = {
  integer: 1,
  address: '0:0000000000000000000000000000000000000000000000000000000000000001',
  ton: '1.5',
  units: '1000000000',
  bag: 'te6cckEBAQEAAgAAAEysuc0=',
  snapshot: 1,
  name: 'before',
  boolean: true,
  dump: '',
};

/** Returns the OpenAPI document of `POST /dev`: one call of JSON-RPC 2.0 with the methods of the table. */
export function describeDev(version: string): object {
  const names = Object.keys(methodRows) as MethodName[];
  return {
    openapi: '3.1.0',
    info: { title: 'Tonplane private network', version, description: 'Methods for developers, on loopback only.' },
    paths: {
      '/dev': {
        post: {
          summary: 'Calls a method (JSON-RPC 2.0); parameters by name or in order',
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: { oneOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) },
                examples: Object.fromEntries(
                  names.map((name) => [name, { summary: methodRows[name].about, value: exampleCall(name) }]),
                ),
              },
            },
          },
          responses: {
            200: {
              description: 'The result, or an error whose message names the parameter',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Answer' } } },
            },
            403: { description: 'A page of another origin sends the call' },
            413: { description: 'The body is larger than 8 MiB' },
            415: { description: 'The media type is not application/json' },
            421: { description: 'The host name is none of this listener' },
          },
        },
      },
    },
    components: {
      schemas: {
        ...Object.fromEntries(names.map((name) => [name, callSchema(name, methodRows[name])])),
        Answer: {
          type: 'object',
          required: ['jsonrpc', 'id'],
          properties: {
            jsonrpc: { const: '2.0' },
            id: {},
            result: {},
            error: {
              type: 'object',
              required: ['code', 'message'],
              properties: { code: { type: 'integer' }, message: { type: 'string' } },
            },
          },
        },
      },
    },
  };
}

function exampleCall(name: MethodName): object {
  const given = methodRows[name].parameters.filter(({ isOptional }) => isOptional !== true);
  const params = Object.fromEntries(
    given.map((one) => [one.name, one.kind === 'integer' ? Math.max(one.min, 1) : examples[one.kind]]),
  );
  return { jsonrpc: '2.0', id: 1, method: name, params };
}

function callSchema(name: MethodName, { about, parameters, cannotBeUndone }: MethodRow): object {
  const required = parameters.filter(({ isOptional }) => isOptional !== true).map((one) => one.name);
  return {
    type: 'object',
    description: about,
    ...(cannotBeUndone && { 'x-cannot-be-undone': true }),
    required: ['jsonrpc', 'method', ...(required.length > 0 ? ['params'] : [])],
    properties: {
      jsonrpc: { const: '2.0' },
      id: { description: 'Comes back in the answer' },
      method: { const: name },
      params: {
        type: 'object',
        additionalProperties: false,
        required,
        properties: Object.fromEntries(parameters.map((one) => [one.name, parameterSchema(one)])),
      },
    },
  };
}

function parameterSchema(parameter: MethodParameter): object {
  const { about: description } = parameter;
  switch (parameter.kind) {
    case 'integer':
      return { type: 'integer', minimum: parameter.min, maximum: parameter.max, description };
    case 'boolean':
      return { type: 'boolean', description };
    case 'snapshot':
      return { type: ['integer', 'string'], description };
    case 'ton':
    case 'units':
      return { type: ['string', 'number'], description };
    default:
      return { type: 'string', description };
  }
}
