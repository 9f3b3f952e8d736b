import { connect } from 'node:net';

/** The parsed answer of one request. */
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
};

export async function request(url: string, init?: RequestInit): Promise<Reply> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parseObject(text) };
}

/** The three ways into an operation; all must say the same. */
export const ways = ['GET', 'POST', 'JSON-RPC'] as const;

export type Way = (typeof ways)[number];

/** Calls an operation one of the three ways. */
export function call(base: string, way: Way, operation: string, params: Record<string, unknown>): Promise<Reply> {
  if (way === 'GET') {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) query.append(name, textOf(value));
    return request(`${base}/api/v2/${operation}?${query.toString()}`);
  }
  if (way === 'POST') return post(`${base}/api/v2/${operation}`, JSON.stringify(params));
  return rpc(base, { jsonrpc: '2.0', id: '1', method: operation, params });
}

/** How a scalar is written in a query. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function post(
  url: string,
  body: string | Blob | Uint8Array<ArrayBuffer>,
  headers?: Record<string, string>,
): Promise<Reply> {
  return request(url, { method: 'POST', body, ...(headers !== undefined && { headers }) });
}

export function rpc(base: string, value: unknown): Promise<Reply> {
  return post(`${base}/api/v2/jsonRPC`, typeof value === 'string' ? value : JSON.stringify(value));
}

/** Writes bytes to the port as they are and returns all that comes back until the other side closes. */
export function rawExchange(port: number, bytes: string | Buffer, halfClose = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => (halfClose ? socket.end(bytes) : socket.write(bytes)));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** Status, headers (lower case) and JSON body of raw HTTP text with one answer. */
export function parseRaw(text: string): Reply {
  const split = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, split).split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(split + 4);
  return { status: Number(first.split(' ')[1]), headers, text: body, body: parseObject(body) };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { value };
  } catch {
    return {};
  }
}
