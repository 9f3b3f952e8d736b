import { StartError, systemCode } from './errors.ts';

/**
 * Listens, or names the option to change.
 * @throws StartError `port_in_use`, `address_unusable`
 */
export async function listenOn<T>(option: string, port: number, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (cause) {
    const reason = systemCode(cause);
    if (reason === '') throw cause;
    const inUse = reason === 'EADDRINUSE';
    throw new StartError({
      code: inUse ? 'port_in_use' : 'address_unusable',
      message: inUse
        ? `${option}: port ${port} is in use; give another one, or 0 for a free one`
        : `${option}: cannot listen on port ${port} (${reason}); check --host and ${option}`,
      data: { option, port, reason },
      retryable: false,
      cause,
    });
  }
}

/** Returns the URL of an address with a listener. */
export function urlOf({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
