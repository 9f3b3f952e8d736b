import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { formatRawAddress } from '../decode/address.ts';
import { createPrivateNetwork } from '../devchain/private-network.ts';
import type { Arguments } from './arguments.ts';
import type { DevNetwork } from './dev-network.ts';

/** A private network that makes its own blocks, served by a lite server over ADNL on loopback. */
export async function startOwnNetwork(
  { blockTime, validators }: Arguments,
  dependencies: { readonly logger: Logger; readonly register: Registry; readonly output: NodeJS.WritableStream },
): Promise<DevNetwork> {
  const pace = blockTime === 'on-demand' ? { blockPerMessage: true } : { blockSeconds: blockTime };
  const network = await createPrivateNetwork(
    { ...pace, ...(validators !== undefined && { validators }) },
    { logger: dependencies.logger, register: dependencies.register },
  );
  const blocks = blockTime === 'on-demand' ? 'a block for each message' : `a block each ${blockTime} s`;
  return {
    title: `A private TON network, ${blocks}.`,
    notes: [],
    sampleAddress: formatRawAddress({ workchain: 0, id: network.faucet.id }),
    stateDir: undefined,
    globalConfig: () => network.globalConfig(),
    facts: () => ({ lastSeqno: undefined, paceSeconds: 0, liteServers: network.liteServers.length }),
    status: () => ({
      devchain: {
        kind: 'private',
        seqno: network.head().id.seqno,
        utime: network.head().header.utime,
        validators: network.validatorKeys.length,
        waitingMessages: network.waiting,
      },
    }),
    posts: new Map(),
    internalPosts: new Map(),
    close: () => network.close(),
  };
}
