import { SentinelConnector, type Redis, type RedisOptions, type SentinelConnectionOptions } from 'ioredis';

/** Part of the connector that ioredis does not declare. */
type Inner = { connectToSentinel: (...args: readonly unknown[]) => Redis };

/**
 * Asks Sentinels as ioredis does, and reports why a Sentinel is not reached. ioredis reports the text of the failed command alone, which has no
 * code of TLS.
 */
export function sentinelConnector(report: (error: Error) => void): NonNullable<RedisOptions['Connector']> {
  return class extends SentinelConnector {
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions);
      const inner = this as unknown as Inner;
      const connect = inner.connectToSentinel.bind(inner);
      inner.connectToSentinel = (...args) => connect(...args).on('error', report);
    }
  };
}
