import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

type Row = Readonly<Record<string, unknown>>;

/** The first second that signed 32 bits do not have. */
const turn = 2 ** 31;
const tenYears = 316_224_000;
const account = `0:${'20'.repeat(32)}`.toUpperCase();

let network: PrivateNetwork;
let index: StoreUnderTest;
let api: Awaited<ReturnType<typeof startApiOver>>;

async function ask(path: string): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const response = await fetch(`${api.api.url}/api/v3/${path}`, { headers: { 'x-api-key': api.key } });
  const body = (await response.json()) as Readonly<Record<string, readonly Row[]>>;
  expect([response.status, body['error']]).toEqual([200, undefined]);
  return { rows: Object.values(body).find(Array.isArray)!, next: response.headers.get('x-next-cursor') };
}

const numbers = (rows: readonly Row[], name: string): readonly number[] => rows.map((row) => Number(row[name]));

beforeAll(async () => {
  network = await startPrivateNetwork();
  const faucet = createFaucet(network.faucet, { ...network, now: () => 0 });
  const methods = createDevMethods({ network, faucet });
  const fund = async (): Promise<void> => {
    const funded = faucet.fund({ workchain: 0, id: Buffer.alloc(32, 0x20) }, 1_000_000_000n);
    await methods.dev_mine({ blocks: 3 });
    await funded;
  };
  index = await createMigratedStore(import.meta.filename);
  api = await startApiOver(network, { postgresUrl: index.url, writesIndex: true });
  await fund();
  await methods.dev_advance({ seconds: tenYears });
  await fund();
  await methods.dev_advance({ seconds: tenYears });
  await fund();
  await untilIndexed(index.store, network.head().id.seqno);
});
afterAll(async () => {
  await api.close();
  await index.close();
});

describe('v3 over a network whose clock passed 2038', () => {
  it('shows the newest blocks first, and goes on behind each page to the first block', async () => {
    const seen: number[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page: Awaited<ReturnType<typeof ask>> = await ask(
        `blocks?workchain=-1&limit=4${next && `&cursor=${next}`}`,
      );
      seen.push(...numbers(page.rows, 'seqno'));
      next = page.next;
    }
    const head = network.head().id.seqno;
    expect(seen).toEqual(Array.from({ length: head }, (_none, at) => head - at));
  });

  it.each(['blocks', 'transactions', 'messages'])('finds rows from a time on and up to a time: %s', async (list) => {
    const time = { blocks: 'gen_utime', transactions: 'now', messages: 'created_at' }[list]!;
    const { rows: all } = await ask(`${list}?start_utime=0&limit=1000&sort=asc`);
    const times = numbers(all, time);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    const late = times.filter((utime) => utime >= turn);
    const early = times.filter((utime) => utime < turn);
    expect([late.length > 0, early.length > 0]).toEqual([true, true]);
    expect(numbers((await ask(`${list}?start_utime=${turn}&limit=1000&sort=asc`)).rows, time)).toEqual(late);
    expect(numbers((await ask(`${list}?end_utime=${turn - 1}&limit=1000&sort=asc`)).rows, time)).toEqual(early);
  });

  it('finds transactions of an account from a time on', async () => {
    const { rows } = await ask(`transactions?account=${account}&start_utime=${turn}`);
    expect(rows).toHaveLength(1);
    expect((await ask(`transactions?account=${account}&end_utime=${turn - 1}`)).rows).toHaveLength(2);
  });
});
