import { once } from 'node:events';

import { Cell, type Address } from '@ton/core';
import { Blockchain, Executor, RemoteBlockchainStorage } from '@ton/sandbox';
import { fastify } from 'fastify';
import { LiteClient, LiteSingleEngine } from 'ton-lite-client';

import { serve } from '../v2/serving.ts';
import type { EmulateBody, EmulateNetwork } from './settings.ts';

// Emulation by hand: @ton/sandbox over states of ton-lite-client, which caches the accounts of a block. The states are not proved, and no
// action is recognised.

serve(async (given) => {
  const { liteServer, config, utime } = given as EmulateNetwork;
  const engine = new LiteSingleEngine({
    host: `tcp://${liteServer.host}:${liteServer.port}`,
    publicKey: Buffer.from(liteServer.publicKey, 'hex'),
  });
  await once(engine, 'ready');
  const client = new LiteClient({ engine });
  const { last } = await client.getMasterchainInfo();
  const executor = await Executor.create();
  const configCell = Cell.fromBase64(config);

  async function getAccount(_seqno: number, address: Address) {
    const { state, balance, lastTx } = await client.getAccountState(address, last);
    return {
      state: state?.storage.state ?? { type: 'uninit' as const },
      balance: balance.coins,
      ...(lastTx !== null && { lastTransaction: { lt: lastTx.lt, hash: bytesOf(lastTx.hash) } }),
    };
  }

  const app = fastify();
  app.post<{ Body: EmulateBody }>('/emulateTrace', async ({ body }) => {
    const storage = new RemoteBlockchainStorage({ getLastBlockSeqno: () => Promise.resolve(last.seqno), getAccount });
    const blockchain = await Blockchain.create({ executor, storage, config: configCell });
    blockchain.now = utime;
    const { transactions } = await blockchain.sendMessage(Cell.fromBase64(body.boc));
    return {
      transactions: Object.fromEntries(
        transactions.map((one) => [
          one.hash().toString('base64'),
          {
            account: one.address.toString(16),
            lt: one.lt.toString(),
            now: one.now,
            total_fees: one.totalFees.coins.toString(),
            in_msg: one.inMessage?.body.toBoc().toString('base64'),
            out_msgs: one.outMessages.values().map((message) => message.body.toBoc().toString('base64')),
          },
        ]),
      ),
    };
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    url,
    key: '',
    close: async () => {
      engine.close();
      await app.close();
    },
  };
});

function bytesOf(hash: bigint): Buffer {
  return Buffer.from(hash.toString(16).padStart(64, '0'), 'hex');
}
