import type { Client } from 'pg';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { methodIdOf } from '#service/tvm/method-id.ts';
import { CHANGES_MAX } from '#service/store/queries/account-changes.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { createAccountLabelCache, type AccountLabelCache } from '#service/v3/annotations/account-label-cache.ts';
import { createCacheMetrics } from '#service/v3/metrics.ts';
import { keyOf, rawOf } from '#test/support/contract-rows.ts';
import { createDraw, oneOf, type Draw } from '#test/support/draw.ts';
import { lockOpenTransactions, untilOthersSettled } from '#test/support/settled.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { insertTokens, masterRow, walletRow } from '#test/support/token-rows.ts';

let index: StoreUnderTest;
let unlock: () => Promise<void>;

beforeAll(async () => {
  unlock = await lockOpenTransactions();
  index = await createMigratedStore(import.meta.filename);
});
afterAll(async () => {
  await index.close();
  await unlock();
});
afterEach(() =>
  change(
    'TRUNCATE latest_account_states, dns_entries, token_accounts, jetton_masters, jetton_wallets, codes, account_changes',
  ),
);

async function change(sql: string, values: readonly unknown[] = []): Promise<void> {
  await index.store.transaction(({ query }) => query(sql, values));
  await untilOthersSettled(index.store);
}

const codeOf = (code: number): Buffer => Buffer.alloc(32, code);

const setCode = `INSERT INTO latest_account_states AS kept (account, hash, balance, status, utime, last_trans_hash, last_trans_lt, code_hash)
  VALUES ($1, $2, 0, 1, 1, $2, 1, $3) ON CONFLICT (account) DO UPDATE SET code_hash = excluded.code_hash, balance = kept.balance + 1`;
const stateOf = (account: number, code: number | null): readonly unknown[] => [
  keyOf(account),
  Buffer.alloc(32, 9),
  code === null ? null : codeOf(code),
];

const setDomain = `INSERT INTO dns_entries (nft_item, nft_item_owner, domain, wallet, last_trans_lt) VALUES ($1, $2, $3, $2, 1)
  ON CONFLICT (nft_item) DO UPDATE SET nft_item_owner = excluded.nft_item_owner, wallet = excluded.wallet, domain = excluded.domain`;
const setToken = 'INSERT INTO token_accounts (account) VALUES ($1) ON CONFLICT DO NOTHING';
const setMethods = 'INSERT INTO codes (code_hash, boc, methods) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';

/** A process that has just started. */
const create = (clock: () => number = () => 0): AccountLabelCache =>
  createAccountLabelCache({ testOnly: false }, { clock, metrics: createCacheMetrics(new Registry()) });

/** Tells how many accounts each query was for. */
function counting(): { readonly reader: StoreReader; readonly asked: number[] } {
  const asked: number[] = [];
  const reader: StoreReader = {
    read(sql, values, mode) {
      if (mode?.statement === 'account_names') asked.push((values[0] as readonly unknown[]).length);
      return index.store.read(sql, values, mode);
    },
  };
  return { reader, asked };
}

/** Of what is told as changed, the oldest first. */
const ages = (): Promise<object[]> =>
  index.store.read<{ minutes: number }>(
    'SELECT round(extract(epoch FROM now() - at) / 60)::integer AS minutes FROM account_changes ORDER BY at',
  );

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

describe('the cache of account labels', () => {
  it('are read once, and again when something of them has changed', async () => {
    for (const account of numbers(4)) await change(setCode, stateOf(account, 1));
    await change(setMethods, [codeOf(1), codeOf(0), [methodIdOf('get_wallet_data')]]);
    await change(setMethods, [codeOf(2), codeOf(0), []]);
    const known = create();
    const { reader, asked } = counting();
    const texts = numbers(4).map(rawOf);
    const find = async () => [...(await known.find(texts, reader)).values()].map((note) => note!);
    const [first] = [await find(), await find()];
    expect(asked).toEqual([4, 0]);
    expect(JSON.parse(first[0]!.row)).toMatchObject({ domain: null, interfaces: ['jetton_wallet'] });

    const changes: readonly (readonly [what: string, account: number, sql: string, values: readonly unknown[]])[] = [
      ['a code', 0, setCode, stateOf(0, 2)],
      ['no code', 1, setCode, stateOf(1, null)],
      ['a domain', 2, setDomain, [keyOf(100), keyOf(2), 'two.ton']],
      ['a token', 3, setToken, [keyOf(3)]],
      ['a domain that goes', 2, 'DELETE FROM dns_entries WHERE nft_item = $1', [keyOf(100)]],
    ];
    for (const [what, account, sql, values] of changes) {
      const before = await find();
      await change(sql, values);
      asked.length = 0;
      const after = await find();
      expect([what, asked]).toEqual([what, [0, 1]]);
      const changed = numbers(4).filter(
        (at) => after[at]!.row !== before[at]!.row || after[at]!.isToken !== before[at]!.isToken,
      );
      expect(changed).toEqual([account]);
      expect(after).toEqual([...(await create().find(texts, reader)).values()]);
    }
  });

  it('labels are not read again when only balances change', async () => {
    await change(setCode, stateOf(1, 1));
    await change(setMethods, [codeOf(1), codeOf(0), []]);
    const known = create();
    const { reader, asked } = counting();
    await known.find([rawOf(1)], reader);
    for (let at = 0; at < 3; at++) await change(setCode, stateOf(1, 1));
    await known.find([rawOf(1)], reader);
    expect(asked).toEqual([1, 0]);
    expect(await index.store.read('SELECT FROM account_changes')).toEqual([]);
  });

  it('that the index does not have, or whose code it does not have yet, are asked for each time', async () => {
    await change(setCode, stateOf(1, 1));
    const known = create();
    const { reader, asked } = counting();
    const rowsOf = async () =>
      [...(await known.find([rawOf(1), rawOf(2)], reader)).values()].map((note) => JSON.parse(note!.row) as object);
    await rowsOf();
    await change(setMethods, [codeOf(1), codeOf(0), [methodIdOf('get_wallet_data')]]);
    await change(setCode, stateOf(2, 1));
    const after = await rowsOf();
    expect(after).toMatchObject([{ interfaces: ['jetton_wallet'] }, { interfaces: ['jetton_wallet'] }]);
    await rowsOf();
    expect(asked).toEqual([2, 2, 0]);
  });

  it('are the same however they are spelled', async () => {
    await change(setCode, stateOf(1, 1));
    await change(setMethods, [codeOf(1), codeOf(0), []]);
    const known = create();
    const { reader, asked } = counting();
    const friendly = (
      JSON.parse((await known.find([rawOf(1)], reader)).get(rawOf(1))!.row) as { user_friendly: string }
    ).user_friendly;
    const found = await known.find([friendly, rawOf(1).toLowerCase(), 'no address', rawOf(1)], reader);
    expect([...found.keys()]).toEqual([friendly, rawOf(1).toLowerCase(), 'no address', rawOf(1)]);
    const [one, lower, none, raw] = [...found.values()];
    expect([one, lower, none]).toEqual([raw, raw, undefined]);
    expect(asked).toEqual([1, 0]);
  });

  it('are known as tokens when contracts of any kind were found at them', async () => {
    for (const account of numbers(3)) await change(setCode, stateOf(account, null));
    const known = create();
    const tokensOf = async () =>
      [...(await known.find(numbers(3).map(rawOf), index.store)).values()].map((note) => note!.isToken);
    expect(await tokensOf()).toEqual([false, false, false]);
    await insertTokens(index.store, {
      masters: [masterRow(1, { address: keyOf(0) })],
      wallets: [walletRow(1, { address: keyOf(2) })],
    });
    expect(await tokensOf()).toEqual([true, false, true]);
  });

  it('are all read again after more changes than one answer lists', async () => {
    for (const account of numbers(3)) await change(setCode, stateOf(account, null));
    const known = create();
    const { reader, asked } = counting();
    const texts = numbers(3).map(rawOf);
    await known.find(texts, reader);
    await change(setCode, stateOf(2, 1));
    const strangers = Array.from({ length: CHANGES_MAX }, (_, at) => keyOf(1000 + at));
    await change('INSERT INTO token_accounts (account) SELECT unnest($1::bytea[])', [strangers]);
    expect(await known.find(texts, reader)).toEqual(await create().find(texts, index.store));
    expect(asked).toEqual([3, 0, 3]);
  });

  it('are forgotten after ten minutes, as changes are after half an hour', async () => {
    await change(setCode, stateOf(1, null));
    let nowMs = 0;
    const known = create(() => nowMs);
    const { reader, asked } = counting();
    for (nowMs of [0, 599_999, 600_000]) await known.find([rawOf(1)], reader);
    expect(asked).toEqual([1, 0, 1]);

    await change(setCode, stateOf(1, 1));
    await change(setCode, stateOf(1, 2));
    await change(`UPDATE account_changes SET at = at - interval '29 minutes'`);
    await change(setToken, [keyOf(5)]);
    expect(await ages()).toEqual([{ minutes: 29 }, { minutes: 29 }, { minutes: 0 }]);
    await change(`UPDATE account_changes SET at = at - interval '2 minutes'`);
    await change(setToken, [keyOf(6)]);
    expect(await ages()).toEqual([{ minutes: 2 }, { minutes: 0 }]);
  });
});

const ACCOUNTS = 12;
const WRITERS = 3;

/** Transactions of several connections that begin and end in any order. */
function createWriters(draw: Draw, clients: readonly Client[]) {
  const isOpen = clients.map(() => false);
  return {
    async step(): Promise<void> {
      const at = draw(WRITERS);
      const client = clients[at]!;
      if (isOpen[at] === true && draw(3) === 0) {
        await client.query(draw(5) === 0 ? 'ROLLBACK' : 'COMMIT');
        isOpen[at] = false;
        return;
      }
      if (isOpen[at] !== true) await client.query('BEGIN');
      isOpen[at] = true;
      // Its own accounts and items, so that none waits for another.
      const own = draw(ACCOUNTS / WRITERS) * WRITERS + at;
      const any = keyOf(draw(ACCOUNTS));
      const [sql, values] = oneOf<readonly [sql: string, values: readonly unknown[]]>(draw, [
        [setCode, stateOf(own, draw(3) === 0 ? null : 1 + draw(3))],
        [setDomain, [keyOf(100 + own), any, `${draw(90)}.ton`]],
        ['DELETE FROM dns_entries WHERE nft_item = $1', [keyOf(100 + own)]],
        [setToken, [keyOf(own)]],
      ]);
      await client.query(sql, [...values]);
    },
  };
}

/** The result of each query waits until it is let go. */
function holding(): { readonly reader: StoreReader; readonly asked: Promise<void>; letGo: () => void } {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const reader: StoreReader = {
    async read(sql, values, mode) {
      const rows = await index.store.read<never>(sql, values, mode);
      asked.resolve();
      await held.promise;
      return rows;
    },
  };
  return { reader, asked: asked.promise, letGo: held.resolve };
}

describe('the cache of account labels, while transactions begin and end in any order', () => {
  it.each([1, 2, 3])('are told as they would be read by a process that has just started (seed %i)', async (seed) => {
    const draw = createDraw(seed);
    const clients = await Promise.all(Array.from({ length: WRITERS }, () => index.store.connect()));
    for (const account of numbers(ACCOUNTS).slice(1)) await change(setCode, stateOf(account, 1));
    for (const code of [1, 2, 3]) await change(setMethods, [codeOf(code), codeOf(0), []]);
    const writers = createWriters(draw, clients);
    const known = create();
    const { reader, asked } = counting();
    const drawTexts = (): string[] => Array.from({ length: 6 }, () => rawOf(draw(ACCOUNTS)));
    const fresh = (texts: readonly string[]) => create().find(texts, index.store);
    const held: (() => Promise<void>)[] = [];
    const [found, expected]: [unknown[], unknown[]] = [[], []];
    try {
      for (let step = 0; step < 400; step++) {
        const dice = draw(8);
        if (dice < 4) await writers.step();
        else if (dice < 6) {
          const texts = drawTexts();
          await untilOthersSettled(index.store);
          found.push(await known.find(texts, reader));
          expected.push(await fresh(texts));
        } else if (dice === 6 && held.length < 4) {
          const texts = drawTexts();
          const call = holding();
          const finding = known.find(texts, call.reader);
          await call.asked;
          const then = await fresh(texts);
          held.push(async () => {
            const now = await fresh(texts);
            call.letGo();
            // What the query says is old is read once more.
            for (const [text, note] of await finding) {
              found.push(note);
              expected.push(
                note?.row === then.get(text)?.row && note?.isToken === then.get(text)?.isToken ? note : now.get(text),
              );
            }
          });
        } else await held.splice(draw(held.length || 1), 1)[0]?.();
      }
      for (const finish of held) await finish();
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
    expect(found).toEqual(expected);
    expect(found.length).toBeGreaterThan(200);
    expect(asked.filter((accounts) => accounts === 0).length).toBeGreaterThan(20);
  });
});
