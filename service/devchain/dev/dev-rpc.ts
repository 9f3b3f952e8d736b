import { TonplaneError } from '#service/error.ts';
import type { StartTimer } from '../chain/head.ts';
import { startTimer as plainTimer } from '../chain/head.ts';
import { isMethodName, methodRows } from './method-table.ts';
import type { DevMethods } from './dev-methods.ts';
import { createTurns } from './turns.ts';

/** Answers one JSON-RPC 2.0 call of a `dev_*` method. Never throws for an error of the caller. */
export type DevRpc = (body: Buffer) => Promise<string>;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const UNKNOWN_METHOD = -32601;
const INVALID_PARAMS = -32602;
const REFUSED = -32000;

type Failure = { readonly code: number; readonly message: string };

/** Longest wait of a call for the call before. */
const TURN_MS_MAX = 30_000;

/**
 * Calls run one after the other. Each call sees the result of the call before. Calls that end a wait, or only look, run at once.
 * @param startTimer of the wait for a turn
 */
export function createDevRpc(methods: DevMethods, startTimer: StartTimer = plainTimer): DevRpc {
  const turns = createTurns(TURN_MS_MAX, startTimer);

  async function answer(id: unknown, name: unknown, params: unknown): Promise<string> {
    if (typeof name !== 'string' || !isMethodName(name)) {
      return failure(id, { code: UNKNOWN_METHOD, message: `method: expected ${Object.keys(methodRows).join(', ')}` });
    }
    const fields = nameFields(
      methodRows[name].parameters.map((parameter) => parameter.name),
      params,
    );
    if ('code' in fields) return failure(id, fields);
    const run = (): Promise<unknown> => methods[name](fields.fields);
    try {
      const result = await (methodRows[name].runsAtOnce ? run() : turns.take(name, run));
      return JSON.stringify({ jsonrpc: '2.0', id, result });
    } catch (error) {
      if (!(error instanceof TonplaneError)) throw error;
      return failure(id, {
        code: error.code === 'bad_argument' ? INVALID_PARAMS : REFUSED,
        message: error.message,
      });
    }
  }

  return async (body) => {
    const call = parse(body);
    if (call === undefined) return failure(null, { code: PARSE_ERROR, message: 'the body is not JSON' });
    if (typeof call !== 'object' || call === null || Array.isArray(call)) {
      return failure(null, { code: INVALID_REQUEST, message: 'expected one call: {jsonrpc, id, method, params}' });
    }
    const { id = null, method, params } = call as Record<string, unknown>;
    return answer(id, method, params);
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Names the parameters, given by name or in order. An unknown name is an error, because it is probably a typing error. */
function nameFields(
  names: readonly string[],
  params: unknown = {},
): { readonly fields: Readonly<Record<string, unknown>> } | Failure {
  const wanted = names.length === 0 ? 'no fields' : names.join(', ');
  const invalid = (got: string): Failure => ({
    code: INVALID_PARAMS,
    message: `params: expected ${wanted}, got ${got}`,
  });
  if (typeof params !== 'object' || params === null) return invalid(JSON.stringify(params).slice(0, 60));
  if (Array.isArray(params)) {
    if (params.length > names.length) return invalid(`${params.length} values`);
    return { fields: Object.fromEntries(params.map((value, index): [string, unknown] => [names[index]!, value])) };
  }
  const unknown = Object.keys(params).find((name) => !names.includes(name));
  return unknown === undefined ? { fields: params as Record<string, unknown> } : invalid(unknown.slice(0, 60));
}

function failure(id: unknown, error: Failure): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}
