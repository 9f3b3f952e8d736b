import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { installTonlib } from '#test/service/devchain/tonlib.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { startPythonPeer, type PythonPeer } from '#test/support/python-peer.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { peerDifferences } from '#test/support/v2-peer-differences.ts';
import { operations, readScenes, requestsTo, type Params } from '#test/support/v2-scenes.ts';
import { ask, queryOf } from '../support/v2-call-styles.ts';

const installed = await installTonlib();
const missing = 'missing' in installed;

/** Operations that the Python server lacks. */
const lacking = new Set(
  (
    'getShardAccountCell dnsResolve getShards getOutMsgQueueSize getTransactionsStd detectHash ' +
    'sendBocReturnHashNoError getConfigAll runGetMethodStd'
  ).split(' '),
);

const table = operations.flatMap((operation) =>
  [operation.name, ...operation.aliases].filter((name) => !lacking.has(name)).map((name) => [name, operation] as const),
);

const skip = { what: 'comparison with the Python v2 server', why: missing ? installed.missing : '' };

describe.skipIf(skipLoudly(missing, skip))('beside the Python server on the same lite server', () => {
  let api: ApiUnderTest;
  let peer: PythonPeer;
  let scenes: Params[] = [];
  let document: PeerDocument;

  beforeAll(async () => {
    if ('missing' in installed) return;
    api = await startApiUnderTest({ behindBlocks: 0 });
    peer = await startPythonPeer(installed.python, JSON.stringify(api.network.globalConfig()));
    scenes = await readScenes(api);
    document = (await (await fetch(`${peer.url}/openapi.json`)).json()) as PeerDocument;
  });
  afterAll(async () => {
    await peer.close();
    await api.close();
  });

  it('every operation that it has is compared', () => {
    const legacy = ['sendQuery', 'jsonRPC'];
    const theirs = Object.keys(document.paths).map((path) => path.slice(1));
    expect(table.map(([name]) => name).toSorted()).toEqual(theirs.filter((name) => !legacy.includes(name)).toSorted());
  });

  it.each(table)('%s answers the same, but for differences with a reason', async (name, operation) => {
    const way = operation.methods.includes('GET') ? 'GET' : 'POST';
    const requests = requestsTo(operation, scenes).filter((params) => takes(document, name, params));
    expect(requests.length).toBeGreaterThan(0);
    for (const params of requests) {
      const ours = await ask({ url: api.api.url, key: api.key }, way, name, params);
      const theirs = await askPeer(peer, way, name, params);
      const found = differences(name, ours, theirs);
      expect({ params, found }).toEqual({ params, found: [] });
    }
  });
});

type PeerDocument = {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly parameters?: readonly { readonly name: string }[] } }>
  >;
};

/** Whether the peer knows all the parameters; it ignores others in a query. */
function takes({ paths }: PeerDocument, operation: string, params: Params): boolean {
  const get = paths[`/${operation}`]?.get;
  const known = get?.parameters?.map(({ name }) => name) ?? [];
  return get === undefined || Object.keys(params).every((name) => known.includes(name));
}

type Answer = { readonly status: number; readonly body: Record<string, unknown> };

/** Its lite server's worker gives up after 10 s, which a busy machine may take once. */
const triesMax = 3;

async function askPeer(peer: PythonPeer, way: 'GET' | 'POST', name: string, params: Params): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await askPeerOnce(peer, way, name, params);
    if (answer.status !== 504 || tries === triesMax) return answer;
  }
}

async function askPeerOnce({ url }: PythonPeer, way: 'GET' | 'POST', name: string, params: Params): Promise<Answer> {
  // It closes connections that were idle for some seconds: each request opens its own.
  const headers = { connection: 'close', 'content-type': 'application/json' };
  const response =
    way === 'GET'
      ? await fetch(`${url}/${name}?${queryOf(params)}`, { headers })
      : await fetch(`${url}/${name}`, { method: 'POST', headers, body: JSON.stringify(params) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Places where two answers differ and no row of the table says why. */
function differences(operation: string, ours: Answer, theirs: Answer): string[] {
  if (ours.status !== 200 || theirs.status !== 200) {
    return differ(operation, 'status', ours.status, theirs.status).map(
      (text) => `${text}: ${String(ours.body['error'])}`,
    );
  }
  return compare(operation, '', ours.body['result'], theirs.body['result']);
}

function compare(operation: string, at: string, ours: unknown, theirs: unknown): string[] {
  if (!isObject(ours) || !isObject(theirs) || Array.isArray(ours) !== Array.isArray(theirs)) {
    return differ(operation, at, ours, theirs);
  }
  const keys = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return keys.flatMap((key) => compare(operation, `${at}.${Array.isArray(ours) ? '*' : key}`, ours[key], theirs[key]));
}

function differ(operation: string, at: string, ours: unknown, theirs: unknown): string[] {
  if (ours === theirs) return [];
  const known = peerDifferences.some(
    (row) => row.of.test(operation) && row.at.test(at) && (row.related?.(ours, theirs) ?? true),
  );
  return known ? [] : [`${at}: ${JSON.stringify(ours)} here, ${JSON.stringify(theirs)} there`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
