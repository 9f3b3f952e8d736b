import { beginCell, type Builder, type Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { READ_LIMITS } from '#service/decode/read-budget.ts';
import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { createLiveDns } from '#service/live/tokens/dns.ts';
import { startListener, type Listener } from '#test/service/http/listener.ts';
import { call } from '#test/service/http/requests.ts';
import { countSteps } from '#test/support/read-steps.ts';
import { sharedDictionary } from '#test/support/shared-cells.ts';

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const address = `0:${'ab'.repeat(32)}`;

/** What the resolver's get-method returns as its dictionary of records. */
let records: Cell;
let listener: Listener;

/** A resolver that knows the whole of the empty name, which is one byte. */
const resolver = {
  runMethod: () => {
    const table = parseBoc(records.toBoc());
    const data = { type: 'cell', table, cell: table.roots[0]! } as const;
    return Promise.resolve({ exitCode: 0, gasUsed: 1n, stack: [{ type: 'int', value: 8n }, data] });
  },
  answer: <T>(value: T) => ({ value, liteServers: [0], cached: false }),
} as unknown as ChainSnapshot;

beforeAll(async () => {
  const dns = createLiveDns({ worlds: { open: () => Promise.resolve(resolver) } });
  listener = await startListener({ live: { dns } });
});
afterAll(() => listener.close());

/** 2^levels records, all one cell. */
const sharedRecords = (levels: number, record: Builder): Cell =>
  sharedDictionary(256, levels, beginCell().storeRef(record));

async function resolve(): Promise<{ status: number; bytes: number; entries: readonly unknown[] }> {
  const { status, body } = await call(listener.url, 'POST', 'dnsResolve', { address });
  const result = body['result'] as { entries: readonly unknown[] } | undefined;
  return { status, bytes: JSON.stringify(body).length, entries: result?.entries ?? [] };
}

describe('dnsResolve', () => {
  it.each([
    [125, '', 200],
    [126, '', 422],
    [125, '.', 200],
    [126, '.', 422],
  ])('answers a name of %i bytes and %j with %i: a resolver takes 127 bytes', async (bytes, end, expected) => {
    records = beginCell().endCell();
    const name = `${'a'.repeat(bytes)}${end}`;
    const { status, body } = await call(listener.url, 'POST', 'dnsResolve', { address, name });
    expect([status, body['error']]).toEqual([expected, expected === 200 ? undefined : 'Name is too long']);
  });

  it.each([4, 7, 10])(
    'answers 422 within one budget to 2^%i records over a shared tree of 1,000 cells',
    async (levels) => {
      let tree = beginCell().endCell();
      for (let at = 0; at < 1000; at++) tree = beginCell().storeUint(at, 64).storeRef(tree).endCell();
      records = sharedRecords(levels, beginCell().storeUint(7, 16).storeRef(tree));
      const { steps, value } = await countSteps(resolve);
      expect(value.status).toBe(422);
      expect(value.bytes).toBeLessThan(1024);
      expect(steps).toBeLessThanOrEqual(READ_LIMITS.steps + 32);
    },
  );

  it('writes 1,024 small records of an unknown type in at most 4 MB', async () => {
    records = sharedRecords(10, beginCell().storeUint(7, 16));
    const { status, bytes, entries } = await resolve();
    expect(status).toBe(200);
    expect(entries).toHaveLength(1024);
    expect(bytes).toBeLessThan(ANSWER_BYTES_MAX);
  });

  it('answers texts of at most one budget, and 422 to more', async () => {
    const text = beginCell().storeUint(0x1eda, 16).storeUint(1, 8).storeUint(100, 8).storeBuffer(Buffer.alloc(100, 1));
    for (const levels of [2, 6, 10]) {
      records = sharedRecords(levels, text);
      const { status, bytes } = await resolve();
      expect([200, 422]).toContain(status);
      expect(bytes).toBeLessThan(2 * READ_LIMITS.output);
    }
  });
});
