import { invalid, type ContractError } from '../contract/errors.ts';
import { V2Error } from './errors.ts';
import type { Operation } from '../contract/operation.ts';
import { bodySource, type ParameterSource } from '../contract/parameter.ts';
import { isRecord } from '../contract/record.ts';

/** `id` of a request, to be echoed with its JSON type; undefined when it had none. */
export type RpcId = string | number | bigint | null | undefined;

/** Call of JSON-RPC: the operation to run, or the reason for a failure. */
export type RpcCall = { readonly id: RpcId } & (
  | { readonly operation: Operation; readonly source: ParameterSource }
  | { readonly error: ContractError | V2Error }
);

/** Reads one request object (service/v2/README.md#json-rpc). Never throws; `jsonrpc` is not checked, unknown fields are ignored. */
export function readRpcCall(value: unknown, find: (name: string) => Operation | undefined): RpcCall {
  if (!isRecord(value)) return { id: undefined, error: malformed('expected a JSON object') };
  const id = field(value, 'id');
  if (!isId(id)) return { id: undefined, error: malformed('id must be a string or a number') };
  const method = field(value, 'method');
  if (typeof method !== 'string') return { id, error: malformed('method must be a string') };
  const operation = find(method);
  if (operation === undefined) return { id, error: new V2Error('unknown_method', 'Unknown method') };
  const params = field(value, 'params');
  if (Array.isArray(params) && params.length > 0) return { id, error: invalid('params must contain an object') };
  return { id, operation, source: bodySource(isRecord(params) ? params : {}) };
}

/** Why a request as a whole is no JSON-RPC request. */
export function malformed(reason: string): ContractError {
  return invalid(`failed to parse request: ${reason}`);
}

function field(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isId(value: unknown): value is RpcId {
  if (value === undefined || value === null || typeof value === 'string' || typeof value === 'bigint') return true;
  return typeof value === 'number' && Number.isFinite(value);
}
