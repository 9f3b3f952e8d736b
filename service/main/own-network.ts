import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { formatRawAddress } from '../decode/address.ts';
import { createDevMethods, fund } from '../devchain/dev-methods.ts';
import { createDevRpc } from '../devchain/dev-rpc.ts';
import { createFaucet } from '../devchain/faucet.ts';
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
  const faucet = createFaucet(network.faucet, { ...network, now: Date.now });
  const rpc = createDevRpc(createDevMethods({ network, faucet }));
  const blocks = blockTime === 'on-demand' ? 'a block for each message' : `a block each ${blockTime} s`;
  return {
    title: `A private TON network, ${blocks}.`,
    notes: [
      'faucet     POST /faucet {"address": ..., "amount": TON}, or: npm start -- dev fund ADDRESS AMOUNT',
      'dev        POST /dev at the internal port: JSON-RPC methods dev_*, see the README',
    ],
    sampleAddress: formatRawAddress({ workchain: 0, id: network.faucet.id }),
    stateDir: undefined,
    globalConfig: () => network.globalConfig(),
    headSeqno: () => network.head().id.seqno,
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
    posts: new Map([['/faucet', { name: 'faucet', run: (body) => fund(faucet, fieldsOf(body)) }]]),
    internalPosts: new Map([['/dev', async (body) => ({ contentType: 'application/json', body: await rpc(body) })]]),
    close: () => network.close(),
  };
}

/** A body that is no object has no fields: the first one that is missing is told. */
function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}
