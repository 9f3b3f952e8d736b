import type { Logger } from 'pino';

import type { KubernetesClient } from './client.ts';
import { pause, type Clock } from './clock.ts';
import { groupOf, optionalKinds, resources, type OptionalKind } from './resources.ts';

/** Optional APIs that the cluster serves, read periodically. */
export type Discovery = {
  readonly served: () => ReadonlySet<OptionalKind>;
  close(): Promise<void>;
};

type DiscoveryDependencies = {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Groups that are not used though they are there. */
  readonly ignoredGroups: readonly string[];
  /** Called after a change, but not after the first reading. */
  readonly onChange: (served: ReadonlySet<OptionalKind>) => void;
};

/**
 * Interval of reading. Anybody may read the served APIs, while watching CRDs needs a cluster-wide permission.
 * Three small reads at this interval cost less than a watch. The operator uses a new API within this time.
 */
const LOOK_MS = 30_000;

/** Reads once, then periodically. @throws ApiError when the first reading fails */
export async function createDiscovery(dependencies: DiscoveryDependencies): Promise<Discovery> {
  const { client, clock, logger, ignoredGroups, onChange } = dependencies;
  const kinds = optionalKinds.filter((kind) => !ignoredGroups.includes(groupOf(kind)));
  const stop = new AbortController();
  let served = await look(client, kinds, stop.signal);

  async function run(): Promise<void> {
    for (;;) {
      await pause(clock, LOOK_MS, stop.signal);
      if (stop.signal.aborted) return;
      try {
        const found = await look(client, kinds, stop.signal);
        if (found.symmetricDifference(served).size === 0) continue;
        served = found;
        logger.info({ served: [...served] }, 'the optional APIs changed');
        onChange(served);
      } catch (error) {
        if (!stop.signal.aborted) logger.warn({ err: (error as Error).message }, 'optional APIs not looked at');
      }
    }
  }

  const running = run();
  return {
    served: () => served,
    async close() {
      stop.abort();
      await running;
    },
  };
}

async function look(
  client: KubernetesClient,
  kinds: readonly OptionalKind[],
  signal: AbortSignal,
): Promise<ReadonlySet<OptionalKind>> {
  const versions = [...new Set(kinds.map((kind) => resources[kind].apiVersion))];
  const lists = await Promise.all(versions.map((version) => client.read(`/apis/${version}`, { signal })));
  const plurals = new Set(
    lists.flatMap((list, at) => {
      const { resources: found = [] } = (list ?? {}) as { resources?: readonly { name?: string }[] };
      return found.map(({ name }) => `${versions[at]}/${name}`);
    }),
  );
  return new Set(kinds.filter((kind) => plurals.has(`${resources[kind].apiVersion}/${resources[kind].plural}`)));
}
