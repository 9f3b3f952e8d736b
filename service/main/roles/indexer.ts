import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { createDetector } from '#service/interfaces/detector.ts';
import { createChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import { StoreError } from '#service/store/errors.ts';
import { claimIndex } from '#service/store/indexer-state.ts';
import { checkSchema } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { createTvm } from '#service/tvm/tvm.ts';
import { followAsIndexer, type ConfigurationSource } from '../wiring/follow-configuration.ts';
import { watchIndex } from '../wiring/index-watch.ts';
import { startIndexWriter } from '../wiring/index-writer.ts';
import { createInternal } from '../wiring/internal-listener.ts';
import { closePart, closingLast } from '../closing.ts';
import { listenOn, urlOf } from '../listen.ts';
import { createTerminalLine } from '../status/terminal-line.ts';
import { startPool } from '../wiring/pool.ts';
import { readinessOf } from '../wiring/readiness.ts';
import { createStatus } from '../status/status.ts';
import { openStore } from '../wiring/store.ts';
import { startTracing } from '../wiring/tracing.ts';
import { tvmOptions } from '../configuration/tvm-options.ts';

/** Running indexer process. */
export type IndexerProcess = {
  /** URL of probes, metrics and status. */
  readonly internalUrl: string;
  /** Stops the indexer. Blocks in progress are written whole or not at all. */
  close(): Promise<void>;
};

/**
 * Wires the indexer from the far end: lite servers, trust, pool, Postgres, the internal listener.
 *
 * @throws StartError, StoreError `other_network`
 */
export async function startIndexerProcess(
  config: ServiceConfig,
  options: ConfigurationSource & { readonly archiveFolder?: string | undefined },
  dependencies: {
    readonly version: string;
    readonly logger: Logger;
    readonly register: Registry;
    /** Output for progress; only a terminal is written to. */
    readonly output: NodeJS.WriteStream;
  },
): Promise<IndexerProcess> {
  const { version, logger, register, output } = dependencies;
  await using building = new AsyncDisposableStack();
  const tracing = building.adopt(await startTracing(config, options.tracingCa, version, logger), closePart);
  const { tracer } = tracing;
  const store = building.adopt(openStore(config, options, { logger, register, tracer }), closePart);
  await refuseOtherNetwork(store, config);
  // An indexer needs no Redis: it has no callers with floors, and it reads everything once.
  const { pool, signatures, trusted } = startPool(config, {}, { logger, register, tracer });
  building.adopt(signatures, closePart);
  building.adopt(pool, closePart);
  const tvm = building.adopt(createTvm(tvmOptions(), { register, logger, now: () => performance.now() }), closePart);
  const worlds = createChainSnapshots(config, { pool, tvm, now: () => performance.now() });
  const detector = createDetector(config, { register });
  const writer = startIndexWriter(config, options, { store, pool, worlds, detector, logger, register });
  building.adopt(writer, closePart);
  const watch = building.adopt(watchIndex({ network: config.anchors.zeroState }, { store, logger }), closePart);
  const reload = building.adopt(followAsIndexer(config, options, { pool, tracing, store }, dependencies), closePart);
  const line = output.isTTY ? createTerminalLine({ output }, { text: () => writer.status().text }) : undefined;
  building.adopt(line, closePart);
  let draining = false;
  building.defer(() => void (draining = true));
  const readiness = () => readinessOf(pool, { draining, unreadable: watch.reason() });
  const status = createStatus(config, version, {
    further: () => ({}),
    pool,
    trusted,
    readiness,
    configHash: () => reload.hash,
    index: () => writer.status(),
  });
  const internal = createInternal(config, {}, { register, readiness, status });
  // Probes and metrics are answered until all other parts have ended.
  await using parts = closingLast(internal, building);
  const at = await listenOn('--internal-port', config.listen.internalPort, () => internal.listen());
  const { network } = config;
  logger.info({ configHash: reload.hash, network, host: at.host, internalPort: at.port }, 'started');
  const running = parts.move();
  return { internalUrl: urlOf(at), close: () => running.disposeAsync() };
}

/** Rejects a wrong database at once. A database that does not exist yet, or has no tables yet, is awaited. */
async function refuseOtherNetwork(store: Store, { anchors, indexer }: ServiceConfig): Promise<void> {
  try {
    await checkSchema(store);
    await claimIndex(store, { ...anchors.zeroState, startSeqno: indexer?.startSeqno ?? 1 });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'other_network') throw error;
  }
}
