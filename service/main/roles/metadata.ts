import { randomBytes } from 'node:crypto';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import type { Readiness } from '#service/http/internal-server.ts';
import { createFetcher } from '#service/metadata/fetch.ts';
import { createMetadata } from '#service/metadata/metadata.ts';
import { refusedAddress } from '#service/metadata/public-address.ts';
import { resolveByDns } from '#service/metadata/resolve.ts';
import { StartError } from '../errors.ts';
import { followAsMetadata, type ConfigurationSource } from '../wiring/follow-configuration.ts';
import { watchIndex } from '../wiring/index-watch.ts';
import { createInternal } from '../wiring/internal-listener.ts';
import { closePart, closingLast } from '../closing.ts';
import { listenOn, urlOf } from '../listen.ts';
import { createStatus } from '../status/status.ts';
import { openStore } from '../wiring/store.ts';
import { startTracing } from '../wiring/tracing.ts';

/** Running process that fetches off-chain metadata of tokens. */
export type MetadataProcess = {
  /** URL of probes, metrics and status. */
  readonly internalUrl: string;
  /** Stops the process. Fetches in progress return to the queue. */
  close(): Promise<void>;
};

/**
 * Wires the metadata role from the far end: Postgres, the hosts of the internet, the internal listener. It has neither lite servers nor keys, and so
 * nothing that a page could want of it.
 *
 * @throws StartError
 */
export async function startMetadataProcess(
  config: ServiceConfig,
  options: ConfigurationSource,
  dependencies: { readonly version: string; readonly logger: Logger; readonly register: Registry },
): Promise<MetadataProcess> {
  const { version, logger, register } = dependencies;
  const { tokenMetadata } = config;
  if (tokenMetadata === null) throw unwanted();
  await using building = new AsyncDisposableStack();
  const tracing = building.adopt(await startTracing(config, options.tracingCa, version, logger), closePart);
  const store = building.adopt(openStore(config, options, { logger, register, tracer: tracing.tracer }), closePart);
  let authorities = options.metadataCa;
  const fetcher = createFetcher(
    { ...tokenMetadata, userAgent: `tonplane/${version}`, gatewayAuthorities: () => authorities },
    { resolve: resolveByDns(), refused: refusedAddress },
  );
  const metadata = createMetadata(tokenMetadata, {
    store,
    fetcher,
    logger,
    register,
    clock: () => performance.now(),
    newClaim: () => randomBytes(8).readBigUInt64BE() >> 1n,
  });
  building.adopt(metadata, closePart);
  const watch = building.adopt(watchIndex({ network: config.anchors.zeroState }, { store, logger }), closePart);
  const setAuthorities = (ca: string | undefined): void => void (authorities = ca);
  const reload = followAsMetadata(config, options, { tracing, store, setAuthorities }, dependencies);
  building.adopt(reload, closePart);
  let draining = false;
  building.defer(() => void (draining = true));
  const readiness = (): Readiness => {
    const reasons = [draining ? 'draining' : undefined, watch.reason()].filter((reason) => reason !== undefined);
    return { ready: reasons.length === 0, reasons };
  };
  const status = createStatus(config, version, {
    readiness,
    configHash: () => reload.hash,
    further: () => ({}),
    metadata: () => metadata.status(),
  });
  const internal = createInternal(config, {}, { register, readiness, status });
  // Probes and metrics are answered until all other parts have ended.
  await using parts = closingLast(internal, building);
  const at = await listenOn('--internal-port', config.listen.internalPort, () => internal.listen());
  logger.info({ network: config.network, host: at.host, internalPort: at.port, ...tokenMetadata }, 'started');
  const running = parts.move();
  return { internalUrl: urlOf(at), close: () => running.disposeAsync() };
}

function unwanted(): StartError {
  return new StartError({
    code: 'metadata_unwanted',
    message: 'spec.tokenMetadata: expected an object ({} for the defaults), got nothing',
    data: {},
    retryable: false,
  });
}
