import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { ForkSource } from '#service/devchain/fork/fork.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { createPrivateNetwork } from '#service/devchain/private-network.ts';

/**
 * A network in which the clock stands until `advance`, and whose randomness is the same in every run.
 * @param fork the network that it begins as a copy of
 */
export async function startPrivateNetwork(
  options: PrivateNetworkOptions = {},
  fork?: ForkSource,
): Promise<PrivateNetwork> {
  const genesisUtime = options.genesisUtime ?? 1_790_000_000;
  let draws = 0;
  return await createPrivateNetwork(
    { genesisUtime, ...options },
    {
      ...(fork && { fork }),
      logger: pino({ level: 'silent' }),
      register: new Registry(),
      // A clock of its own for every network: each block is a second later than the last.
      now: () => (genesisUtime + draws) * 1000,
      random: (bytes) => Buffer.alloc(bytes, ++draws),
    },
  );
}
