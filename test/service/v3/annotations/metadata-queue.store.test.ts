import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { TokenName } from '#service/store/token-content.ts';
import { createMetadataQueue, TASKS_MAX, type MetadataQueue } from '#service/v3/annotations/metadata-queue.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createTokenStore, keyOf, rawOf } from '#test/support/token-rows.ts';

let made: StoreUnderTest;
let nowMs = 0;

beforeAll(async () => {
  made = await createTokenStore(import.meta.filename, {});
});
afterAll(() => made.close());

function openQueue(store: StoreUnderTest['store'] = made.store): MetadataQueue {
  return createMetadataQueue({ store, logger: pino({ level: 'silent' }), clock: () => nowMs });
}

const item = (at: number): TokenName => ({ address: keyOf('item', at), type: 'nft_items' });

async function tasks(): Promise<string[]> {
  const rows = await made.store.read<{ address: Buffer; type: string; attempts: number }>(
    'SELECT address, type, attempts FROM metadata_tasks ORDER BY address, type',
  );
  return rows.map(({ address, type, attempts }) => `${type} ${rawOf(address)} ${attempts}`);
}

const taskOf = ({ address, type }: TokenName): string => `${type} ${rawOf(address)} 0`;

describe('the queue of tokens whose words are to be fetched', () => {
  it('has each token once, whoever wants it and how often', async () => {
    const [one, other] = [openQueue(), openQueue()];
    one.want([item(1), item(2)]);
    one.want([item(2), { ...item(2), type: 'nft_collections' }]);
    other.want([item(1), item(3)]);
    await Promise.all([one.close(), other.close()]);
    const wanted = [item(1), { ...item(2), type: 'nft_collections' as const }, item(2), item(3)];
    expect(await tasks()).toEqual(wanted.map(taskOf));
  });

  it('does not queue a token again within a minute', async () => {
    await made.store.transaction(({ query }) => query('DELETE FROM metadata_tasks'));
    let written = 0;
    const counted: StoreUnderTest['store'] = {
      ...made.store,
      transaction: (work) => {
        written++;
        return made.store.transaction(work);
      },
    };
    const queue = openQueue(counted);
    queue.want([item(1)]);
    nowMs += 59_000;
    queue.want([item(1)]);
    expect(written).toBe(0);
    await queue.close();
    expect(written).toBe(1);
    expect(await tasks()).toEqual([taskOf(item(1))]);
  });

  it('takes no more than it may hold', async () => {
    const fill = `INSERT INTO metadata_tasks (address, type) SELECT '\\x80'::bytea || sha256(int8send(n)), 'nft_items' FROM generate_series(1, ${TASKS_MAX}) n`;
    await made.store.transaction(({ query }) => query(fill));
    const queue = openQueue();
    queue.want([item(7)]);
    await queue.close();
    expect((await tasks()).includes(taskOf(item(7)))).toBe(false);
    await made.store.transaction(({ query }) => query('TRUNCATE metadata_tasks'));
  });

  it('a task that cannot be written is dropped, and no caller sees an error', async () => {
    const broken = { ...made.store, transaction: () => Promise.reject(new Error('away')) };
    const failed = openQueue(broken);
    failed.want([item(8)]);
    await failed.close();
    expect(await tasks()).toEqual([]);
  });

  it('is written beside the answers that ask, without being closed', async () => {
    const queue = openQueue();
    queue.want([item(10)]);
    expect(await tasks()).toEqual([]);
    await vi.waitFor(async () => expect(await tasks()).toEqual([taskOf(item(10))]));
    await queue.close();
    await made.store.transaction(({ query }) => query('TRUNCATE metadata_tasks'));
  });

  it('wants nothing more once it is closed', async () => {
    const queue = openQueue();
    await queue.close();
    queue.want([item(9)]);
    await queue.close();
    expect(await tasks()).toEqual([]);
  });
});
