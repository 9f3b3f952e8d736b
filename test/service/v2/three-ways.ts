import { expect } from 'vitest';

import { reference, schemaOf } from '#test/service/http/reference.ts';
import { call, ways, type Reply, type Way } from '#test/service/http/requests.ts';

/**
 * Asks an operation each of the given ways, one after another, and expects the same of all of them; each answer satisfies the
 * published contract, when it is here. Gives back the first.
 * @param contract operation whose answers the contract has, for one that is in none
 */
export async function askEveryWay(
  base: string,
  operation: string,
  params: Record<string, unknown>,
  chosen: readonly Way[] = ways,
  contract: string = operation,
): Promise<Reply> {
  const replies: Reply[] = [];
  for (const way of chosen) {
    const reply = await call(base, way, operation, params);
    expect({ way, operation, flaws: flawsOf(way, contract, reply) }).toEqual({ way, operation, flaws: [] });
    replies.push(reply);
  }
  const [first, ...others] = replies;
  for (const other of others) expect(contentOf(other)).toEqual(contentOf(first!));
  return first!;
}

function contentOf({ status, body }: Reply): object {
  return { status, result: body['result'], error: body['error'], code: body['code'] };
}

function flawsOf(way: Way, operation: string, { status, body }: Reply): readonly unknown[] {
  const isRpc = way === 'JSON-RPC';
  const success = `${operation.charAt(0).toUpperCase()}${operation.slice(1)}${isRpc ? 'Rpc' : ''}Response`;
  const validate = schemaOf(reference, status === 200 ? success : `${isRpc ? 'Rpc' : ''}Error${status}`);
  return validate(body) ? [] : [...(validate.errors ?? []), body];
}
