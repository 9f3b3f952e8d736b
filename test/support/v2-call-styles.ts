import type { Operation } from '#service/contract/operation.ts';
import type { Way } from '../service/http/requests.ts';
import type { Params } from './v2-scenes.ts';

/** The parsed answer of one request. */
export type AttemptResult = { readonly status: number; readonly type: string; readonly body: Record<string, unknown> };

/** The ways into an operation. */
export function callStylesOf({ methods }: Operation): Way[] {
  return [...methods, 'JSON-RPC'];
}

/** Path of an operation. */
export function pathOf(operation: string): string {
  return `/api/v2/${operation}`;
}

/** Calls an operation of a running service with a key; the answer must be JSON. */
export async function ask(
  service: { readonly url: string; readonly key: string },
  way: Way,
  operation: string,
  params: Params,
): Promise<AttemptResult> {
  const headers = { 'x-api-key': service.key };
  const response =
    way === 'GET'
      ? await fetch(`${service.url}${pathOf(operation)}?${queryOf(params)}`, { headers })
      : await fetch(`${service.url}${pathOf(way === 'POST' ? operation : 'jsonRPC')}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(way === 'POST' ? params : { jsonrpc: '2.0', id: '1', method: operation, params }),
        });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, type: response.headers.get('content-type') ?? '', body };
}

/** Lists repeat their name; what is no text is written as JSON. */
export function queryOf(params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      query.append(name, typeof item === 'string' ? item : JSON.stringify(item));
    }
  }
  return query.toString();
}
