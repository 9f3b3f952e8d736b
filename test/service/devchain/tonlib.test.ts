import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import type { Tonlib } from './tonlib.ts';
import { installTonlib, startTonlib } from './tonlib.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

type RecordedAccount = { readonly address: string; readonly balance_at_last: string };

const installed = await installTonlib();
const missing = 'missing' in installed;

describe.each(recordingDirs())('the official C++ tonlib on %s', (recordingDir) => {
  describe.skipIf(
    skipLoudly(missing, { what: 'tonlib against the embedded lite server', why: missing ? installed.missing : '' }),
  )('checks every proof itself and', () => {
    let devchain: Devchain;
    let tonlib: Tonlib;

    beforeAll(async () => {
      if ('missing' in installed) return;
      devchain = await createDevchain(
        { recordingDir, paceSeconds: 3600, startBehindBlocks: 100 },
        { logger: pino({ level: 'silent' }), register: new Registry(), chain: await recordedChain(recordingDir) },
      );
      tonlib = await startTonlib(installed.python, devchain.globalConfig());
    });

    afterAll(async () => {
      tonlib.close();
      await devchain.close();
    });

    it('syncs from the zerostate over the key blocks to the head', async () => {
      const block = await tonlib.ask({ '@type': 'sync' });
      const { id } = devchain.head();
      expect(block).toMatchObject({
        workchain: -1,
        seqno: id.seqno,
        root_hash: id.rootHash.toString('base64'),
        file_hash: id.fileHash.toString('base64'),
      });
    });

    it('follows the head when it moves', async () => {
      devchain.moveHead(devchain.chain.lastSeqno);
      expect(await tonlib.ask({ '@type': 'sync' })).toMatchObject({ seqno: devchain.chain.lastSeqno });
    });

    it('reads the recorded accounts', async () => {
      const { id } = devchain.head();
      const accounts = recordedAccounts(recordingDir);
      const balances: Record<string, string> = {};
      for (const { address } of accounts) balances[address] = await balanceAt(tonlib, id, address);
      const recorded = accounts.map(({ address, balance_at_last: balance }) => [address, balance]);
      expect(balances).toEqual(Object.fromEntries(recorded));
    });

    it('reads a block, its shards and its configuration', async () => {
      const id = blockJson(devchain.chain.masterchain(Math.ceil(devchain.chain.lastSeqno / 2))!.id);
      expect(await tonlib.ask({ '@type': 'blocks.getShards', id })).toMatchObject({ '@type': 'blocks.shards' });
      expect(await tonlib.ask({ '@type': 'blocks.getBlockHeader', id })).toMatchObject({ id });
      expect(
        await tonlib.ask({ '@type': 'withBlock', id, function: { '@type': 'getConfigParam', mode: 0, param: 34 } }),
      ).toMatchObject({ '@type': 'configInfo' });
    });

    it('refuses an account with a spoiled proof', async () => {
      const { id } = devchain.head();
      const { address } = recordedAccounts(recordingDir)[0]!;
      for (const proof of ['wrongHash', 'storedHash', 'missingCell'] as const) {
        await devchain.liteServers[0]!.setFaults({ only: ['getAccountState'], proof });
        await expect(balanceAt(tonlib, id, address)).rejects.toThrow(/VALIDATE|INVALID|proof|Merkle/i);
      }
      await devchain.liteServers[0]!.setFaults({});
    });
  });
});

function recordedAccounts(folder: string): RecordedAccount[] {
  const file = join(folder, 'accounts.json');
  if (!existsSync(file)) return [];
  return Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, RecordedAccount>);
}

type Id = ReturnType<Devchain['head']>['id'];

function blockJson({ workchain, shard, seqno, rootHash, fileHash }: Id): object {
  return {
    '@type': 'ton.blockIdExt',
    workchain,
    shard: BigInt.asIntN(64, shard).toString(),
    seqno,
    root_hash: rootHash.toString('base64'),
    file_hash: fileHash.toString('base64'),
  };
}

/** Nanotons as tonlib answers them; -1 stands for an account that does not exist. */
async function balanceAt(tonlib: Tonlib, id: Id, address: string): Promise<string> {
  const state = await tonlib.ask({
    '@type': 'withBlock',
    id: blockJson(id),
    function: {
      '@type': 'raw.getAccountState',
      account_address: { '@type': 'accountAddress', account_address: address },
    },
  });
  return String(state['balance'] === '-1' ? 0 : state['balance']);
}
