import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createDevchain } from '#service/devchain/devchain.ts';
import { walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { recordingDirs } from '#test/support/fixtures.ts';

// The lite server's process: its CPU time is not the reader's. Moves the head when it is told to.

const [recordingDir] = recordingDirs();
if (recordingDir === undefined) throw new Error('no recorded network among the fixtures');
const never = 1e6;
const network = await createDevchain(
  { recordingDir, paceSeconds: never, startBehindBlocks: 300 },
  { logger: pino({ level: 'silent' }), register: new Registry() },
);

/** As many accounts of the newest states as a benchmark reads. */
const accountsMax = 1000;

function listAccounts(limit: number): string[] {
  const { chain } = network;
  const head = network.head();
  const blocks = [...head.shards.map(({ block }) => chain.find(block)), head];
  const found: string[] = [];
  for (const block of blocks) {
    if (block === undefined) continue;
    const { accounts } = readShardState(chain.states, block.state);
    walkShardAccounts(chain.states, accounts, (id) => {
      found.push(`${block.id.workchain}:${id.toString('hex')}`);
      return found.length < limit;
    });
  }
  return found.slice(0, limit);
}

process.on('message', (seqno: number) => network.moveHead(seqno));
process.once('disconnect', () => void network.close());

const [{ host, port, publicKey } = { host: '', port: 0, publicKey: Buffer.alloc(0) }] = network.liteServers;
const known = JSON.parse(readFileSync(join(recordingDir, 'accounts.json'), 'utf8')) as Record<
  string,
  { address: string }
>;
process.send?.({
  globalConfig: JSON.stringify(network.globalConfig()),
  liteServer: { host, port, publicKey: publicKey.toString('hex') },
  firstSeqno: network.head().id.seqno,
  lastSeqno: network.chain.lastSeqno,
  addresses: Object.values(known).map(({ address }) => address),
  accounts: listAccounts(accountsMax),
});
