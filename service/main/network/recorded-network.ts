import { resolve } from 'node:path';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { createDevchain } from '#service/devchain/devchain.ts';
import { ownLiteServer } from '#service/devchain/lite-servers.ts';
import { globalIdOf } from '#service/devchain/dev/startup-accounts.ts';
import type { Arguments } from '../configuration/arguments.ts';
import type { DevNetwork } from './dev-network.ts';

/** Recording of the project, next to the sources or next to the bundle. */
const ownRecording = resolve(
  import.meta.dirname,
  import.meta.url.endsWith('.ts') ? '../../..' : '..',
  'test/vectors/realnet',
);

/** The elector. */
const sampleAddress = '-1:3333333333333333333333333333333333333333333333333333333333333333';

/** A recorded chain that is played and served by a lite server over ADNL on loopback. */
export async function startRecordedNetwork(
  { recording, paceSeconds, data, liteServerPort }: Arguments,
  dependencies: { readonly logger: Logger; readonly register: Registry; readonly output: NodeJS.WritableStream },
): Promise<DevNetwork> {
  dependencies.output.write('Tonplane: loading the recorded network\n');
  const devchain = await createDevchain(
    { recordingDir: recording ?? ownRecording, paceSeconds, servers: [ownLiteServer(liteServerPort)] },
    dependencies,
  );
  const { lastSeqno } = devchain.chain;
  return {
    title: `A recorded TON network, played ${paceSeconds === 0 ? 'all at once' : `a block each ${paceSeconds} s`}.`,
    notes: [],
    sampleAddress,
    globalId: globalIdOf(devchain),
    liteServer: devchain.liteServers[0]!,
    accounts: [],
    demo: {},
    stateDir: data,
    globalConfig: () => devchain.globalConfig(),
    headSeqno: () => devchain.head().id.seqno,
    facts: () => ({ lastSeqno, paceSeconds, liteServers: devchain.liteServers.length, aheadSeconds: 0 }),
    status: () => ({ devchain: { kind: 'recorded', seqno: devchain.head().id.seqno, lastSeqno } }),
    posts: new Map(),
    internalPosts: new Map(),
    internalPages: () => new Map(),
    aheadSeconds: () => 0,
    balanceOf: () => 0n,
    close: () => devchain.close(),
  };
}
