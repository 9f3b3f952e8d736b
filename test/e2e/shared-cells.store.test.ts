import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Cell } from '@ton/core';
import * as fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { putCode } from '#test/support/put-contract.ts';
import { silentCode } from '#test/support/scripted-contract.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { sharedGraph } from '#test/support/shared-cells.ts';

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes that a heap and its buffers may have grown by when all answers are out: caches fill, and garbage waits for its collection. */
const GROWN_BYTES_MAX = 64 * 1024 * 1024;

const GRAPHS = 12;

const minutes = 300_000;

const folder = mkdtempSync(join(tmpdir(), 'shared-cells-'));
let service: ServiceProcess;
beforeAll(async () => {
  service = await startService(['--index', '--data', folder]);
}, minutes);
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Get-methods whose results each hold the graph, where readers of contents, records and stacks look for it. */
function codeGiving(graph: Cell): Cell {
  return silentCode({
    any: { gives: [graph, graph] },
    dnsresolve: { takes: 2, gives: [8n, graph] },
    get_jetton_data: { gives: [1n, -1n, null, graph, graph] },
    get_nft_data: { gives: [-1n, 0n, null, null, graph] },
    get_collection_data: { gives: [1n, graph, null] },
    get_wallet_data: { gives: [1n, null, null, graph] },
  });
}

type AttemptResult = { readonly path: string; readonly body?: unknown };

/** A request of each operation that reads data of the account, of the order in the index, or of the caller. */
function requestsFor(address: string, graph: Cell): readonly AttemptResult[] {
  const boc = graph.toBoc().toString('base64');
  const slice = { '@type': 'tvm.stackEntrySlice', slice: { '@type': 'tvm.slice', bytes: boc } };
  const cell = { '@type': 'tvm.stackEntryCell', cell: { '@type': 'tvm.cell', bytes: boc } };
  const tuple = { '@type': 'tvm.stackEntryTuple', tuple: { '@type': 'tvm.tuple', elements: [cell, slice, cell] } };
  const run = { address, method: 'any' };
  return [
    { path: `/api/v2/getTokenData?address=${address}` },
    { path: `/api/v2/dnsResolve?address=${address}&name=.` },
    { path: `/api/v2/dnsResolve?address=${address}&name=a.b.c&category=wallet` },
    { path: '/api/v2/runGetMethod', body: { ...run, stack: [] } },
    { path: '/api/v2/runGetMethod', body: { ...run, stack: Array.from({ length: 50 }, () => ['tvm.Slice', boc]) } },
    { path: '/api/v2/runGetMethodStd', body: { ...run, stack: [cell, slice, tuple] } },
    { path: `/api/v2/getAddressInformation?address=${address}` },
    { path: `/api/v2/getExtendedAddressInformation?address=${address}` },
    { path: `/api/v2/getWalletInformation?address=${address}` },
    { path: `/api/v2/getShardAccountCell?address=${address}` },
    { path: '/api/v2/estimateFee', body: { address, body: boc, ignore_chksig: true } },
    { path: '/api/v2/estimateFee', body: { address, body: boc, init_code: boc, init_data: boc, ignore_chksig: true } },
    { path: '/api/v2/sendBoc', body: { boc } },
    { path: '/api/v2/getConfigAll' },
    { path: '/api/v3/runGetMethod', body: { ...run, stack: [{ type: 'slice', value: boc }] } },
    { path: '/api/v3/estimateFee', body: { address, body: boc, ignore_chksig: true } },
    { path: '/api/v3/message', body: { boc } },
    { path: '/api/v3/decode', body: { bodies: Array.from({ length: 16 }, () => boc) } },
    { path: `/api/v3/accountStates?address=${address}&include_boc=true` },
    { path: `/api/v3/addressInformation?address=${address}` },
    { path: `/api/v3/walletInformation?address=${address}` },
    { path: `/api/v3/walletStates?address=${address}` },
    { path: '/api/v3/multisig/orders?limit=20&parse_actions=true', body: undefined },
  ];
}

async function ask({ path, body }: AttemptResult): Promise<{ status: number; bytes: number }> {
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
  const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${service.url}${path}`, { headers, ...post });
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
}

/** Bytes of the main thread's heap and of what lies outside of it. */
async function memoryBytes(): Promise<number> {
  const text = await (await fetch(`${service.internalUrl}/metrics`)).text();
  const valueOf = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)![1]);
  return valueOf('nodejs_heap_size_used_bytes') + valueOf('nodejs_external_memory_bytes');
}

/** The demonstration's order of a multisig gets this content, once the index has it; its multisig, as a raw address. */
async function putOrder(graph: Cell): Promise<string> {
  const client = new Client({ connectionString: readFileSync(join(folder, 'postgres/url'), 'utf8') });
  await client.connect();
  try {
    const update = 'UPDATE ton.multisig_orders SET order_boc = $1 RETURNING multisig';
    const rowsOf = async () => (await client.query<{ multisig: Buffer }>(update, [graph.toBoc()])).rows;
    await expect.poll(rowsOf, { timeout: minutes }).toHaveLength(1);
    const [row] = await rowsOf();
    return `${row!.multisig[0]! - 128}:${row!.multisig.toString('hex', 1)}`;
  } finally {
    await client.end();
  }
}

describe('data of contracts and callers that share cells', () => {
  it(
    'get an answer of at most 4 MiB, never a fault of the server, and leave no memory behind',
    async () => {
      const graphs = fc.sample(sharedGraph, { numRuns: GRAPHS, seed: 34 });
      const address = `0:${'34'.repeat(32)}`;
      let beforeBytes = 0;
      for (const [round, graph] of graphs.entries()) {
        await putCode(service, address, codeGiving(graph), graph);
        const multisig = await putOrder(graph);
        for (const asked of requestsFor(address, graph)) {
          const path = asked.path.includes('orders') ? `${asked.path}&multisig_address=${multisig}` : asked.path;
          const { status, bytes } = await ask({ ...asked, path });
          expect({ round, path, status }).toEqual({ round, path, status: expect.toSatisfy(isNoFault) });
          expect(bytes).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
        }
        // The first round compiles and fills.
        if (round === 0) beforeBytes = await memoryBytes();
      }
      await expect.poll(memoryBytes, { timeout: minutes, interval: 500 }).toBeLessThan(beforeBytes + GROWN_BYTES_MAX);
    },
    minutes,
  );
});

const isNoFault = (status: number): boolean => status < 500;
