import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';

import type { Devchain, DevchainOptions } from '#service/devchain/devchain.ts';
import type { DevchainServerOptions } from '#service/devchain/lite-servers.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

/** The recording that tests of behaviour play: the first one there is, else the project's own. */
export const recordingDir = recordingDirs()[0] ?? join(import.meta.dirname, '../../vectors/realnet');

/** Loaded once for all networks of a test file, before its tests and their time limits begin. */
export const chain = await recordedChain(recordingDir);

export const silent = pino({ level: 'silent' });

/** A network that stands still until `moveHead`, with as many lite servers as there are options; closed with the test. */
export async function startNetwork(
  servers: readonly DevchainServerOptions[] = [{}],
  options: Partial<DevchainOptions> = {},
): Promise<Devchain> {
  const devchain = await createDevchain(
    { recordingDir, paceSeconds: 3600, servers, ...options },
    {
      logger: silent,
      register: new Registry(),
      ...(options.recordingDir === undefined && { chain }),
    },
  );
  onTestFinished(() => devchain.close());
  return devchain;
}

/** A client of one of the network's lite servers; closed with the test. */
export function connect(devchain: Devchain, server = 0): LiteServer {
  const { host, port, publicKey } = devchain.liteServers[server]!;
  const client = createLiteServer(
    { name: `server ${server}`, host, port, publicKey },
    { logger: silent, register: new Registry() },
  );
  onTestFinished(() => client.close());
  return client;
}
