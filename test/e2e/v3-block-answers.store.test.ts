import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '#service/store/store.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { makeActions, readMadeTransactions, writeActions } from '#test/support/made-actions.ts';
import { startV3UnderTest, type Query, type V3UnderTest } from '#test/support/v3-service.ts';

type Json = Record<string, unknown>;

let service: V3UnderTest;
/** A process that writes the index. */
let writer: Store;

beforeAll(async () => {
  service = await startV3UnderTest(import.meta.filename);
  writer = service.index.another({ poolSize: 1 });
});
afterAll(() => service.close());

const commit = (sql: string, values: readonly unknown[] = []): Promise<Json[]> =>
  writer.transaction(({ query }) => query<Json>(sql, values));

async function get<T>(operation: string, query: Query = {}): Promise<T> {
  const { status, body } = await service.get(operation, query);
  expect([operation, status]).toEqual([operation, 200]);
  return body as T;
}

/** A next masterchain block, with the contents of the last one. */
const addBlock = `INSERT INTO blocks SELECT next.* FROM
  (SELECT * FROM blocks WHERE workchain = -1 ORDER BY seqno DESC LIMIT 1) last,
  jsonb_populate_record(last::blocks, jsonb_build_object('seqno', seqno + 1, 'gen_utime', gen_utime + 1)) next RETURNING seqno`;

type Info = { readonly last: { readonly seqno: number }; readonly first: { readonly seqno: number } };
type Blocks = { readonly blocks: readonly { readonly seqno: number }[] };
type Book = Readonly<Record<string, { readonly domain: string | null }>>;

const CHANGES = 20;

/** Ids of the newest two actions. */
const newestActions = async (): Promise<(string | undefined)[]> => {
  const { actions } = await get<{ actions: readonly { readonly action_id: string }[] }>('actions', { limit: 2 });
  return actions.map(({ action_id: id }) => id);
};

const bookOf = async (): Promise<Book> =>
  (await get<{ address_book: Book }>('transactions', { limit: 5 })).address_book;

describe('an answer that is the same for a block', () => {
  it('has the newest block at once after its commit', async () => {
    for (let at = 0; at < CHANGES; at++) {
      await Promise.all([get('masterchainInfo'), get('blocks', { limit: 3 })]);
      const [added] = await commit(addBlock);
      const [{ last }, { blocks }, { blocks: ofMasterchain }] = await Promise.all([
        get<Info>('masterchainInfo'),
        get<Blocks>('blocks', { limit: 3 }),
        get<Blocks>('blocks', { limit: 3, workchain: -1 }),
      ]);
      expect([last.seqno, blocks[0]?.seqno, ofMasterchain[0]?.seqno]).toEqual(Array(3).fill(added?.['seqno']));
    }
  });

  it('has a block of the past at once after its commit', async () => {
    const { first } = await get<Info>('masterchainInfo');
    await commit(
      `INSERT INTO blocks SELECT next.* FROM (SELECT * FROM blocks WHERE workchain = -1 ORDER BY seqno LIMIT 1) first,
       jsonb_populate_record(first::blocks, jsonb_build_object('seqno', seqno - 1)) next`,
    );
    expect((await get<Info>('masterchainInfo')).first.seqno).toBe(first.seqno - 1);
  });

  it('has a balance at once after its commit', async () => {
    for (let at = 0; at < CHANGES; at++) {
      await get('topAccountsByBalance', { limit: 3 });
      const [row] = await commit(
        `UPDATE latest_account_states SET balance = (SELECT max(balance) + 1 FROM latest_account_states)
         WHERE account = (SELECT account FROM latest_account_states ORDER BY balance DESC, account LIMIT 1 OFFSET 2)
         RETURNING balance::text`,
      );
      const [most] = await get<readonly { readonly balance: string }[]>('topAccountsByBalance', { limit: 3 });
      expect(most?.balance).toBe(row?.['balance']);
    }
  });

  it('lacks an action at once after the commit that deletes it', async () => {
    const traces = await writer.read<TraceRow>('SELECT * FROM traces');
    const made = makeActions(traces, await readMadeTransactions(writer)).map((row) => ({
      ...row,
      type: 'ton_transfer',
      ancestor_types: [],
    }));
    await writeActions(writer, made);
    for (let at = 0; at < CHANGES; at++) {
      const [first, second] = await newestActions();
      await commit('DELETE FROM actions WHERE action_id = $1', [Buffer.from(first!, 'base64')]);
      expect((await newestActions())[0]).toBe(second);
    }
  });

  it('has the names of its accounts at once after their commits', async () => {
    const [account] = Object.keys(await bookOf());
    const key = Buffer.concat([
      Buffer.from([128 + Number(account!.split(':')[0])]),
      Buffer.from(account!.split(':')[1]!, 'hex'),
    ]);
    for (let at = 0; at < CHANGES; at++) {
      const domain = `name${at}.ton`;
      await commit(
        `INSERT INTO dns_entries (nft_item, nft_item_owner, domain, wallet, last_trans_lt) VALUES ($1, $2, $3, $2, 1)
         ON CONFLICT (nft_item) DO UPDATE SET domain = excluded.domain`,
        [Buffer.alloc(33, 7), key, domain],
      );
      expect((await bookOf())[account!]?.domain).toBe(domain);
    }
  });

  it('never goes back, nor behind a commit before its request, while blocks come and many ask', async () => {
    let committed = Number((await commit('SELECT max(seqno) AS seqno FROM blocks WHERE workchain = -1'))[0]?.['seqno']);
    let shown = 0;
    const over = new AbortController();
    const behind: unknown[] = [];
    const ask = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const least = Math.max(committed, shown);
        const { last } = await get<Info>('masterchainInfo');
        if (last.seqno < least) behind.push([last.seqno, least]);
        shown = Math.max(shown, last.seqno);
      }
    };
    const callers = Array.from({ length: 8 }, ask);
    for (let at = 0; at < 100; at++) committed = Number((await commit(addBlock))[0]?.['seqno']);
    over.abort();
    await Promise.all(callers);
    expect(behind).toEqual([]);
    expect((await get<Info>('masterchainInfo')).last.seqno).toBe(committed);
  });

  it('is the same for many callers, who get the cached one', async () => {
    await get('masterchainInfo');
    const answers = await Promise.all(Array.from({ length: 32 }, () => service.get('masterchainInfo')));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const reads = await service.api.register.getSingleMetric('ton_v3_cache_reads_total')!.get();
    const counts = reads.values.filter(({ labels }) => labels['kind'] === 'answers');
    expect(counts.find(({ labels }) => labels['outcome'] === 'cached')?.value).toBeGreaterThanOrEqual(32);
  });
});
