import { accountKey } from '#service/store/account-key.ts';
import { createInserts } from '#service/store/insert.ts';
import {
  addressMetadata,
  jettonMasters,
  nftItems,
  type AddressMetadataRow,
} from '#service/store/classification-tables.ts';
import type { Store } from '#service/store/store.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

export type Content = Readonly<Record<string, unknown>>;

/** Queue with its tables, filled like by the index and the API. */
export type TokenQueue = StoreUnderTest & {
  /** Adds jetton masters with these contents on the chain, each to be fetched. */
  addMasters(contents: readonly Content[], first?: number): Promise<void>;
  addItem(content: Content): Promise<void>;
  /** Enqueues a token (again). */
  enqueue(address: Uint8Array, type?: string): Promise<void>;
  /** Moves the tasks forward in time. */
  pass(seconds: number): Promise<void>;
  tasks(): Promise<readonly TaskRow[]>;
  rowOf(address: Uint8Array): Promise<AddressMetadataRow | undefined>;
  /** Returns rows by name, in the order of the masters. */
  rows(): Promise<readonly AddressMetadataRow[]>;
  putRow(row: Partial<AddressMetadataRow>): Promise<void>;
};

export type TaskRow = {
  readonly address: Buffer;
  readonly type: string;
  readonly attempts: number;
  /** Seconds from now on. */
  readonly due_in: number;
  readonly claim: bigint;
  readonly host: string | null;
};

/** Returns the key of a numbered account. */
export function tokenKey(number: number): Buffer {
  const id = Buffer.alloc(32);
  id.writeUInt32BE(number, 28);
  return accountKey({ workchain: 0, id });
}

const state = { last_trans_lt: 1n, code_hash: null, data_hash: null };

export async function createTokenQueue(testFile: string): Promise<TokenQueue> {
  const tested = await createMigratedStore(testFile);
  const { store } = tested;
  const enqueue = (addresses: readonly Uint8Array[], type: string): Promise<void> =>
    store.transaction(async ({ query }) => {
      await query(
        'INSERT INTO metadata_tasks (address, type) SELECT address, $2 FROM unnest($1::bytea[]) AS address ON CONFLICT DO NOTHING',
        [addresses, type],
      );
    });
  const rows = (): Promise<AddressMetadataRow[]> =>
    readAll<AddressMetadataRow>(store, 'SELECT * FROM address_metadata ORDER BY address');
  return {
    ...tested,
    async addMasters(contents, first = 0) {
      const masters = contents.map((content, index) => ({
        address: tokenKey(first + index),
        total_supply: 0n,
        mintable: false,
        admin: null,
        content,
        wallet_code_hash: Buffer.alloc(32),
        ...state,
      }));
      await store.transaction((session) => createInserts(session, 'unnest').add(jettonMasters, masters));
      await enqueue(
        masters.map(({ address }) => address),
        'jetton_masters',
      );
    },
    async addItem(content) {
      const item = { address: tokenKey(0), init: true, index: 0n, collection: null, owner: null, content, ...state };
      await store.transaction((session) =>
        createInserts(session, 'unnest').add(nftItems, [
          { ...item, code_hash: Buffer.alloc(32), data_hash: Buffer.alloc(32) },
        ]),
      );
      await enqueue([item.address], 'nft_items');
    },
    enqueue: (address, type = 'jetton_masters') => enqueue([address], type),
    pass: (seconds) =>
      store.transaction(async ({ query }) => {
        await query('UPDATE metadata_tasks SET due_at = due_at - make_interval(secs => $1)', [seconds]);
        await query('UPDATE address_metadata SET expires_at = expires_at - $1, updated_at = updated_at - $1', [
          seconds,
        ]);
      }),
    tasks: () =>
      readAll(
        store,
        'SELECT *, extract(epoch FROM due_at - now())::float8 AS due_in FROM metadata_tasks ORDER BY address',
      ),
    rows,
    rowOf: async (address) => (await rows()).find((row) => Buffer.compare(row.address, address) === 0),
    async putRow(row) {
      const whole = {
        address: tokenKey(0),
        type: 'jetton_masters',
        valid: true,
        name: null,
        description: null,
        symbol: null,
        image: null,
        extra: {},
        updated_at: 1,
        expires_at: 2,
        ...row,
      };
      await store.transaction((session) => createInserts(session, 'unnest').add(addressMetadata, [whole]));
    },
  };
}

function readAll<R extends object>(store: Store, sql: string): Promise<R[]> {
  return store.transaction(({ query }) => query<R>(sql));
}
