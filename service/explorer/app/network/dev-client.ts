import { ApiError } from '../api.ts';

/**
 * Calls a method of `POST /dev` on the page's own listener. Rejects with an `ApiError` whose message names the wrong parameter.
 * @param params by name
 */
export async function callDev<T>(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await ownJson<{ result?: T; error?: { message: string } }>('/dev', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    ...(signal && { signal }),
  });
  if (answer.error !== undefined) throw new ApiError(422, answer.error.message);
  return answer.result as T;
}

/** Reads JSON of the page's own listener. */
export async function ownJson<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new ApiError(0, String(error));
  }
  if (!response.ok) throw new ApiError(response.status, (await response.text()).slice(0, 500));
  return (await response.json()) as T;
}
