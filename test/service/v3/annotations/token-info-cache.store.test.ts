import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { CHANGES_MAX } from '#service/store/queries/account-changes.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { TokenName } from '#service/store/token-content.ts';
import { createAnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';
import { createAddressBooks } from '#service/v3/annotations/address-book.ts';
import { createAccountLabelCache } from '#service/v3/annotations/account-label-cache.ts';
import { createTokenInfoCache, type TokenInfoCache } from '#service/v3/annotations/token-info-cache.ts';
import { createTokenMetadata } from '#service/v3/annotations/metadata.ts';
import { createCacheMetrics } from '#service/v3/metrics.ts';
import { createDraw, oneOf } from '#test/support/draw.ts';
import { lockOpenTransactions, untilOthersSettled } from '#test/support/settled.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import {
  collectionRow,
  insertTokens,
  itemRow,
  keyOf,
  masterRow,
  metadataRow,
  rawOf,
  walletRow,
  type TokenRows,
} from '#test/support/token-rows.ts';

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
    'TRUNCATE token_accounts, jetton_masters, jetton_wallets, nft_collections, nft_items, address_metadata, account_changes',
  ),
);

async function change(sql: string, values: readonly unknown[] = []): Promise<void> {
  await index.store.transaction(({ query }) => query(sql, values));
  await untilOthersSettled(index.store);
}

async function put(rows: TokenRows): Promise<void> {
  await insertTokens(index.store, rows);
  await untilOthersSettled(index.store);
}

const raw = (kind: string, at: number): string => rawOf(keyOf(kind, at));

/** A process that has just started. */
const create = (
  given: { clock?: () => number; wanted?: (tokens: readonly TokenName[]) => void } = {},
): TokenInfoCache =>
  createTokenInfoCache({}, { clock: () => 0, metrics: createCacheMetrics(new Registry()), ...given });

/** Tells how many accounts, and how many balances, each query was for. */
function counting(): { readonly reader: StoreReader; readonly asked: (readonly [number, number])[] } {
  const asked: (readonly [number, number])[] = [];
  const reader: StoreReader = {
    read(sql, values, mode) {
      const [accounts, balances] = values as (readonly unknown[])[];
      asked.push([accounts!.length, balances!.length]);
      return index.store.read(sql, values, mode);
    },
  };
  return { reader, asked };
}

const some: TokenRows = {
  masters: [masterRow(0), masterRow(1), masterRow(2)],
  wallets: [walletRow(0), walletRow(1)],
  collections: [collectionRow(0)],
  items: [itemRow(0)],
  metadata: [metadataRow({ address: keyOf('master', 2), type: 'jetton_masters' })],
};

/** All of those but a master. */
const keys = [
  ...[2, 1].map((at) => keyOf('master', at)),
  ...[0, 1].map((at) => keyOf('wallet', at)),
  keyOf('collection', 0),
  keyOf('item', 0),
];
const texts = keys.map(rawOf);

describe('the cache of token information', () => {
  it('are read once, balances each time; masters of wallets come behind', async () => {
    await put(some);
    const known = create();
    const { reader, asked } = counting();
    const found = await known.find(texts, reader);
    expect([...found.keys()]).toEqual([...texts, raw('master', 0)]);
    expect(JSON.parse(`[${found.get(raw('wallet', 1))!.infos}]`)).toEqual([
      {
        valid: true,
        type: 'jetton_wallets',
        extra: { owner: raw('owner', 1), jetton: raw('master', 1), balance: '1' },
      },
    ]);
    // The master that nobody asked for is known when its wallet has been read.
    expect(asked.splice(0)).toEqual([
      [6, 0],
      [1, 0],
    ]);
    await change('UPDATE jetton_wallets SET balance = balance + 5, last_trans_lt = last_trans_lt + 1');
    const again = await known.find(texts, reader);
    expect(asked).toEqual([[0, 2]]);
    expect(again).toEqual(await create().find(texts, index.store));
    expect(again.get(raw('wallet', 1))!.infos).toContain('"balance":"6"');
  });

  const changes: readonly (readonly [what: string, changed: string, make: () => Promise<unknown>])[] = [
    [
      'the words of a master',
      raw('master', 1),
      () => change(`UPDATE jetton_masters SET content = '{"symbol": "NEW"}' WHERE address = $1`, [keyOf('master', 1)]),
    ],
    [
      'the words of a collection',
      raw('collection', 0),
      () => change(`UPDATE nft_collections SET content = '{"name": "New"}'`),
    ],
    ['the words of an item', raw('item', 0), () => change(`UPDATE nft_items SET content = '{"name": "New"}'`)],
    ['the number of an item', raw('item', 0), () => change('UPDATE nft_items SET index = 77')],
    [
      'the owner of a wallet',
      raw('wallet', 1),
      () => change('UPDATE jetton_wallets SET owner = $1 WHERE address = $2', [keyOf('owner', 4), keyOf('wallet', 1)]),
    ],
    [
      'the master of a wallet',
      raw('wallet', 1),
      () =>
        change('UPDATE jetton_wallets SET jetton = $1 WHERE address = $2', [keyOf('master', 2), keyOf('wallet', 1)]),
    ],
    [
      'what was fetched first',
      raw('collection', 0),
      () => put({ metadata: [metadataRow({ address: keyOf('collection', 0), type: 'nft_collections' })] }),
    ],
    ['what was fetched again', raw('master', 2), () => change(`UPDATE address_metadata SET name = 'Again'`)],
    ['what was fetched and is gone', raw('master', 2), () => change('DELETE FROM address_metadata')],
    [
      'what an account is beside what it was',
      raw('wallet', 0),
      () => put({ items: [itemRow(9, { address: keyOf('wallet', 0) })] }),
    ],
    ['a master that was none before', raw('master', 0), () => put({ masters: [masterRow(0)] })],
  ];

  it.each(changes)('are read again when something of them changes: %s', async (_what, changed, make) => {
    await put({ ...some, masters: [masterRow(1), masterRow(2)] });
    const known = create();
    const { reader, asked } = counting();
    const before = await known.find(texts, reader);
    asked.length = 0;
    await make();
    const after = await known.find(texts, reader);
    expect(asked).toEqual([
      [0, 2],
      [1, 0],
    ]);
    expect(after).toEqual(await create().find(texts, index.store));
    const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
      (one) => before.get(one)?.infos !== after.get(one)?.infos,
    );
    expect(differing).toContain(changed);
  });

  it('stay cached when nothing changes that answers show', async () => {
    await put(some);
    const known = create();
    const { reader, asked } = counting();
    await known.find(texts, reader);
    asked.length = 0;
    await change('UPDATE jetton_masters SET total_supply = total_supply + 1, content = content');
    await change('UPDATE nft_items SET owner = NULL');
    await change('UPDATE nft_collections SET next_item_index = 1000');
    await known.find(texts, reader);
    expect(asked).toEqual([[0, 2]]);
  });

  it('show of a master that nobody asked for what it is as a token alone, and of a wallet’s nothing else', async () => {
    const [wallet, chained] = [keyOf('wallet', 0), keyOf('wallet', 1)];
    await put({ wallets: [walletRow(0, { jetton: chained }), walletRow(1)], masters: [masterRow(1)] });
    const known = create();
    for (let turn = 0; turn < 2; turn++) {
      expect([...(await known.find([rawOf(wallet)], index.store)).keys()]).toEqual([rawOf(wallet)]);
      expect([...(await known.find([rawOf(chained), rawOf(wallet)], index.store)).keys()]).toEqual([
        rawOf(chained),
        rawOf(wallet),
        raw('master', 1),
      ]);
    }
  });

  it('whose words are outside and not here are wanted each time, and those that were fetched when they are old', async () => {
    await put({ masters: [masterRow(0, { content: { uri: 'https://example.com/0.json' } }), masterRow(1)] });
    const [near, never] = ["now() + interval '1 minute'", "now() + interval '1 day'"];
    for (const [at, expires] of [near, never].entries()) {
      await put({
        collections: [collectionRow(at)],
        metadata: [metadataRow({ address: keyOf('collection', at), type: 'nft_collections' })],
      });
      await change(`UPDATE address_metadata SET expires_at = extract(epoch FROM ${expires}) WHERE address = $1`, [
        keyOf('collection', at),
      ]);
    }
    let nowMs = 0;
    const wanted: string[] = [];
    const known = create({
      clock: () => nowMs,
      wanted: (tokens) => wanted.push(...tokens.map(({ address, type }) => `${type} ${rawOf(address)}`)),
    });
    const asked = [raw('master', 0), raw('master', 1), raw('collection', 0), raw('collection', 1)];
    const wantedAt = async (ms: number): Promise<readonly string[]> => {
      nowMs = ms;
      await known.find(asked, index.store);
      return wanted.splice(0);
    };
    const [outside, old] = [`jetton_masters ${asked[0]!}`, `nft_collections ${asked[2]!}`];
    expect(await wantedAt(0)).toEqual([outside]);
    expect(await wantedAt(50_000)).toEqual([outside]);
    expect(await wantedAt(61_000)).toEqual([outside, old]);
    expect(await wantedAt(700_000)).toEqual([outside]);
  });

  it('are all read again after more changes than one answer lists, a thousand accounts at a time', async () => {
    await put(some);
    const known = create();
    const { reader, asked } = counting();
    await known.find(texts, reader);
    asked.length = 0;
    const strangers = Array.from({ length: CHANGES_MAX + 1 }, (_, at) => keyOf('stranger', at));
    await change('INSERT INTO token_accounts (account) SELECT unnest($1::bytea[])', [strangers]);
    expect(await known.find(texts, reader)).toEqual(await create().find(texts, index.store));
    expect(asked.splice(0)).toEqual([
      [0, 2],
      [7, 0],
    ]);
    expect((await known.find(strangers.map(rawOf), reader)).size).toBe(0);
    expect(asked).toEqual([
      [1000, 0],
      [1, 0],
    ]);
  });

  it.each([1, 2, 3])(
    'are told as they would be read by a process that has just started, whatever becomes of them (seed %i)',
    async (seed) => {
      const draw = createDraw(seed);
      await put(some);
      const clients = [await index.store.connect(), await index.store.connect()];
      const isOpen = [false, false];
      const known = create();
      const { reader, asked } = counting();
      const write = async (): Promise<void> => {
        const at = draw(2);
        const client = clients[at]!;
        if (isOpen[at] === true && draw(3) === 0) {
          await client.query(draw(5) === 0 ? 'ROLLBACK' : 'COMMIT');
          isOpen[at] = false;
          return;
        }
        if (isOpen[at] !== true) await client.query('BEGIN');
        isOpen[at] = true;
        // Tables of their own, so that neither waits for the other.
        const [table, column, value] = oneOf<readonly [string, string, unknown]>(
          draw,
          at === 0
            ? [
                ['jetton_masters', 'content', { symbol: `S${draw(5)}` }],
                ['nft_items', 'index', draw(100)],
              ]
            : [
                ['jetton_wallets', 'jetton', keyOf('master', draw(3))],
                ['jetton_wallets', 'balance', draw(100)],
                ['address_metadata', 'name', `N${draw(5)}`],
              ],
        );
        await client.query(`UPDATE ${table} SET ${column} = $1`, [value]);
      };
      const [found, expected]: [unknown[], unknown[]] = [[], []];
      try {
        for (let step = 0; step < 200; step++) {
          if (draw(2) === 0) await write();
          else {
            const few = texts.filter(() => draw(2) === 0);
            await untilOthersSettled(index.store);
            found.push([...(await known.find(few, reader))]);
            expected.push([...(await create().find(few, index.store))]);
          }
        }
      } finally {
        await Promise.all(clients.map((client) => client.end()));
      }
      expect(found).toEqual(expected);
      expect(asked.filter(([accounts]) => accounts === 0).length).toBeGreaterThan(20);
    },
  );
});

const context = (store: StoreReader) => ({
  store,
  settings: { addressBook: true, metadata: true, timeoutMs: 1000, actionsVersion: undefined },
});

function createNotes() {
  const given = { clock: () => 0, metrics: createCacheMetrics(new Registry()) };
  const accounts = createAccountLabelCache({ testOnly: false }, given);
  const metadata = createTokenMetadata({ accounts, tokens: createTokenInfoCache({}, given) });
  return createAnswerAnnotations({ accounts, ...createAddressBooks({ accounts }), ...metadata });
}

describe('the metadata of an answer', () => {
  const setState = `INSERT INTO latest_account_states (account, hash, balance, status, utime, last_trans_hash, last_trans_lt)
    SELECT account, $2, 0, 1, 1, $2, 1 FROM unnest($1::bytea[]) AS account ON CONFLICT DO NOTHING`;
  afterEach(() => change('TRUNCATE latest_account_states'));

  it('of accounts that are known as tokens is read beside their names', async () => {
    await put(some);
    await change(setState, [keys, Buffer.alloc(32, 9)]);
    const notes = createNotes();
    const first = await notes.notesOf(texts, context(index.store));
    expect(Object.keys(first.metadata.toJSON())).toEqual([...texts, raw('master', 0)]);
    const asked = Promise.withResolvers<void>();
    const waiting: StoreReader = {
      async read(sql, values, mode) {
        if (mode?.statement === 'tokens') asked.resolve();
        else await asked.promise;
        return index.store.read<never>(sql, values, mode);
      },
    };
    const again = await notes.notesOf(texts, context(waiting));
    expect(again.metadata.toJSON()).toEqual(first.metadata.toJSON());
    expect(again.address_book.toJSON()).toEqual(first.address_book.toJSON());
  });

  it('has those that became tokens since, in their places', async () => {
    const { items, ...before } = some;
    await put(before);
    await change(setState, [keys, Buffer.alloc(32, 9)]);
    const notes = createNotes();
    const given = [raw('item', 0), ...texts.slice(0, -1)];
    expect(Object.keys((await notes.notesOf(given, context(index.store))).metadata.toJSON())).not.toContain(given[0]);
    await put({ items: items! });
    const told = await notes.notesOf(given, context(index.store));
    expect(Object.keys(told.metadata.toJSON())).toEqual([...given, raw('master', 0)]);
    expect(told.metadata.toJSON()).toEqual(
      (await createNotes().notesOf(given, context(index.store))).metadata.toJSON(),
    );
  });

  it('fails as what it reads does', async () => {
    await put(some);
    await change(setState, [keys, Buffer.alloc(32, 9)]);
    const notes = createNotes();
    await notes.notesOf(texts, context(index.store));
    const failing = (statement: string): StoreReader => ({
      read: (sql, values, mode) =>
        mode?.statement === statement
          ? Promise.reject(new Error(statement))
          : index.store.read<never>(sql, values, mode),
    });
    for (const statement of ['tokens', 'account_names']) {
      await expect(notes.notesOf(texts, context(failing(statement)))).rejects.toThrow(statement);
    }
  });
});
