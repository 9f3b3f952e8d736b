import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createDevchain } from '#service/devchain/devchain.ts';
import { recordingDirs } from '#test/support/fixtures.ts';

// The lite server's process: its CPU time is not the reader's. Moves the head when it is told to.

const [recordingDir] = recordingDirs();
if (recordingDir === undefined) throw new Error('no recorded network among the fixtures');
const never = 1e6;
const network = await createDevchain(
  { recordingDir, paceSeconds: never, startBehindBlocks: 100 },
  { logger: pino({ level: 'silent' }), register: new Registry() },
);

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
  lastSeqno: network.chain.lastSeqno,
  addresses: Object.values(known).map(({ address }) => address),
});
