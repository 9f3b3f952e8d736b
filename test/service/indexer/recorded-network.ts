import type { Devchain } from '#service/devchain/devchain.ts';
import type { LiveBlockFiles } from '#service/live/blocks/block-files.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { Store } from '#service/store/store.ts';
import { createStoreUnderTest, openStore, type StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore, makeMigratedIndex, makeTemplate } from '#test/support/templates.ts';
import { openPool, startNetwork, until } from '../pool/network.ts';
import type { IndexerSettings } from './index-under-test.ts';
import { patientPool, startIndexer, untilIndexed } from './index-under-test.ts';
import { filesOver } from './recording.ts';
import { tableHashes } from './table-hashes.ts';

/** The index of the recorded network after one pass that nothing disturbed. */
const template = 'indexed_network';

/** The recorded network at its last block, lite servers over it, and databases to index it into. */
export type RecordedNetwork = {
  readonly network: Devchain;
  readonly pool: Pool;
  readonly files: LiveBlockFiles;
  /** Seqno of the last masterchain block. */
  readonly last: number;
  readonly zero: IndexerSettings['network'];
  /** With the tables, empty. */
  readonly newStore: () => Promise<StoreUnderTest>;
  /** What the tables are after one pass that nothing disturbed. */
  readonly undisturbed: () => Promise<Record<string, string>>;
  readonly close: () => Promise<void>;
};

export async function openRecordedNetwork(testFile: string, servers = 2): Promise<RecordedNetwork> {
  const network = await startNetwork(servers);
  const last = network.chain.lastSeqno;
  network.moveHead(last);
  const open = openPool(network, { tuning: patientPool });
  const files = filesOver(open.pool);
  await until(() => open.pool.head()?.block.seqno === last);
  const zero = network.chain.zeroStates[0]!.id;
  const stores: StoreUnderTest[] = [];
  let hashes: Promise<Record<string, string>> | undefined;

  async function newStore(): Promise<StoreUnderTest> {
    const made = await createMigratedStore(testFile);
    stores.push(made);
    return made;
  }

  const make = async (url: string): Promise<void> => {
    const store = openStore({ url });
    try {
      await indexWhole(store, { last, files, zero });
    } finally {
      await store.close();
    }
  };

  /** The first file of a run that asks makes the index. */
  async function onePass(): Promise<Record<string, string>> {
    await makeTemplate(template, make, await makeMigratedIndex());
    const made = await createStoreUnderTest(testFile, {}, template);
    stores.push(made);
    return tableHashes(made.store);
  }

  return {
    network,
    pool: open.pool,
    files,
    last,
    zero,
    newStore,
    undisturbed: () => (hashes ??= onePass()),
    async close() {
      await open.close();
      await network.close();
      for (const store of stores) await store.close();
    },
  };
}

/** In one pass, as the head. */
export async function indexWhole(
  store: Store,
  { last, files, zero }: Pick<RecordedNetwork, 'last' | 'files' | 'zero'>,
): Promise<void> {
  const indexer = startIndexer(store, files, { network: zero, tuning: { gapBlocksMax: last } });
  try {
    await untilIndexed(store, last);
  } finally {
    await indexer.close();
  }
}
