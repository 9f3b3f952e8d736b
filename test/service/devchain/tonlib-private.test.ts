import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import type { Consensus } from '#service/devchain/chain/signing.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { live, receivers } from './lively.ts';
import type { Tonlib } from './tonlib.ts';
import { installTonlib, startTonlib } from './tonlib.ts';

const installed = await installTonlib();
const missing = 'missing' in installed;

describe.skipIf(
  skipLoudly(missing, { what: 'tonlib against a private network', why: missing ? installed.missing : '' }),
)('the official C++ tonlib', () => {
  describe.each<[Consensus]>([['ordinary'], ['simplex']])('on a private network with %s signatures', (consensus) => {
    let network: PrivateNetwork;
    let tonlib: Tonlib;

    beforeAll(async () => {
      if ('missing' in installed) return;
      const genesisUtime = Math.floor(Date.now() / 1000) - 100;
      const timing = { splitMergeDelaySeconds: 3, splitMergeIntervalSeconds: 60, genesisUtime };
      network = await startPrivateNetwork({ validators: 4, consensus, ...timing });
      await live(network);
      tonlib = await startTonlib(installed.python, network.globalConfig());
    });

    afterAll(async () => {
      tonlib.close();
      await network.close();
    });

    it('syncs from the zerostate over its key blocks to the head, and follows it', async () => {
      expect(network.chain.keyBlocks.length).toBeGreaterThanOrEqual(2);
      expect(network.head().shards.length).toBe(2);
      expect(await tonlib.ask({ '@type': 'sync' })).toMatchObject({ seqno: network.head().id.seqno });
      await network.step();
      expect(await tonlib.ask({ '@type': 'sync' })).toMatchObject({
        seqno: network.head().id.seqno,
        root_hash: network.head().id.rootHash.toString('base64'),
      });
    });

    it('reads accounts of every shard and their transactions', async () => {
      for (const address of [...receivers, `-1:${'33'.repeat(32)}`]) {
        const account = { account_address: { '@type': 'accountAddress', account_address: address } };
        const state = await tonlib.ask({ '@type': 'raw.getAccountState', ...account });
        expect(Number(state['balance'])).toBeGreaterThan(0);
        const id = state['last_transaction_id'];
        const page = await tonlib.ask({ '@type': 'raw.getTransactions', ...account, from_transaction_id: id });
        expect((page['transactions'] as unknown[]).length).toBeGreaterThanOrEqual(8);
      }
    });

    it('runs get-methods and reads the configuration, shards and blocks', async () => {
      const address = { account_address: `0:${network.faucet.id.toString('hex')}` };
      const { id } = await tonlib.ask({ '@type': 'smc.load', account_address: address });
      const method = { '@type': 'smc.methodIdName', name: 'seqno' };
      const ran = await tonlib.ask({ '@type': 'smc.runGetMethod', id, method, stack: [] });
      expect(ran).toMatchObject({ exit_code: 0, stack: [{ number: { number: '10' } }] });
      expect(await tonlib.ask({ '@type': 'getConfigParam', mode: 0, param: 34 })).toMatchObject({
        '@type': 'configInfo',
      });
      const last = (await tonlib.ask({ '@type': 'blocks.getMasterchainInfo' }))['last'] as object;
      const { shards } = await tonlib.ask({ '@type': 'blocks.getShards', id: last });
      expect((shards as unknown[]).length).toBe(2);
      for (const block of shards as object[]) {
        expect(await tonlib.ask({ '@type': 'blocks.getBlockHeader', id: block })).toMatchObject({ id: block });
      }
      const listed = await tonlib.ask({
        '@type': 'blocks.getTransactions',
        id: last,
        mode: 7,
        count: 10,
        after: { '@type': 'blocks.accountTransactionId', account: 'A'.repeat(43) + '=', lt: 0 },
      });
      expect((listed['transactions'] as unknown[]).length).toBeGreaterThanOrEqual(3);
    });
  });
});
