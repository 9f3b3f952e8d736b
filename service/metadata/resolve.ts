import { promises as dns } from 'node:dns';

/** All addresses of a host. Rejects when none is known. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Milliseconds of one try at one name server. */
const TIMEOUT_MS = 3000;
const TRIES = 2;

/**
 * Resolves by DNS alone. The hosts file and search domains are not used, because there a name could mean a service of the cluster. Each query has a
 * resolver of its own, so that cancelling it cancels no other.
 *
 * @param servers addresses with ports; default: the system's
 */
export function resolveByDns({ servers }: { readonly servers?: readonly string[] } = {}): ResolveHost {
  return async (host, signal) => {
    const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
      return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}
