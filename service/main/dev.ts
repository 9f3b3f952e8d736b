import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { configFromGlobalConfig, unlimitedPlan, type ProcessSettings } from '../config.ts';
import type { Operation } from '../contract/operation.ts';
import { startApi, type Api, type ApiDependencies } from './api.ts';
import type { Arguments } from './arguments.ts';
import { loadDevKey } from './dev-key.ts';
import type { DevNetwork } from './dev-network.ts';
import { startOwnNetwork } from './own-network.ts';
import { startRecordedNetwork } from './recorded-network.ts';
import { createStatusLine } from './status-line.ts';

/** Ctrl-C must end the process within 2 s, whatever still runs. */
const drainMs = 500;

/** What may be done at the internal port is for this machine alone. */
const internalHost = '127.0.0.1';

/** The API follows its lite server within milliseconds; a machine that is too busy for that must not hold an answer for ever. */
const servedWithinMs = 5000;
const servedEveryMs = 5;

export type DevDependencies = ApiDependencies & { readonly output: NodeJS.WriteStream };

/** A TON network in this process and the API over it: to the pool its lite server is as any other, over ADNL on loopback. */
export async function startDev(
  args: Arguments,
  settings: ProcessSettings,
  { version, logger, register, output }: DevDependencies,
): Promise<{ close(): Promise<void> }> {
  const start = args.recorded ? startRecordedNetwork : startOwnNetwork;
  const network = await start(args, { version, logger, register, output });
  const globalConfig = (): string => JSON.stringify(network.globalConfig(), undefined, 2);
  let api: Api;
  /** Waits until the API is where the network is: what a developer did is seen by the next read. */
  const served = async (): Promise<void> => {
    const seqno = network.headSeqno();
    for (let waitedMs = 0; waitedMs < servedWithinMs; waitedMs += servedEveryMs) {
      if ((api.pool.head()?.block.seqno ?? 0) >= seqno) return;
      await sleep(servedEveryMs);
    }
  };
  const devKey = loadDevKey(args.data, randomBytes);
  try {
    api = await startApi(
      configFromGlobalConfig(globalConfig(), 'custom', { ...settings, stateDir: network.stateDir }),
      {
        keys: [{ id: devKey.id, sha256: devKey.sha256, plan: unlimitedPlan }],
        drainMs,
        pages: new Map([['/global.config.json', () => ({ contentType: 'application/json', body: globalConfig() })]]),
        posts: new Map(
          [...network.posts].map(([path, handler]) => [
            path,
            { name: handler.name, run: (body, signal) => handler.run(body, signal).finally(served) },
          ]),
        ),
        internalPosts: new Map(
          [...network.internalPosts].map(([path, run]) => [path, (body) => run(body).finally(served)]),
        ),
        internalHost,
        ...(network.accountsBrought !== undefined && { around: readAgain(network.accountsBrought, served) }),
        status: () => network.status(),
      },
      { version, logger, register },
    );
  } catch (error) {
    await network.close();
    throw error;
  }
  output.write(welcome(api, devKey.key, network));
  const line = createStatusLine(
    { output },
    {
      facts: async () => ({
        ...network.facts(),
        headSeqno: api.pool.head()?.block.seqno,
        liteServersUsable: api.pool.status().filter(({ phase }) => phase === 'in').length,
        requests: await api.requests(),
      }),
    },
  );
  return {
    async close() {
      line.close();
      await api.close();
      await network.close();
    },
  };
}

/** Accounts that one operation may bring over, one after the other: a contract, its master, its content. */
const readAgainMax = 16;

/** Runs an operation again at a newer block when an account that it needs came over from the forked network meanwhile. */
function readAgain(brought: () => number, served: () => Promise<void>): (operation: Operation) => Operation {
  return (operation) => ({
    ...operation,
    async run(source, context) {
      for (let again = 0; ; again++) {
        const before = brought();
        try {
          const answer = await operation.run(source, context);
          if (brought() === before || again === readAgainMax) return answer;
        } catch (error) {
          if (brought() === before || again === readAgainMax) throw error;
        }
        await served();
      }
    },
  });
}

function welcome(api: Api, key: string, { title, notes, sampleAddress }: DevNetwork): string {
  const base = `${api.url}/api/v2`;
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: '1',
    method: 'getAddressBalance',
    params: { address: sampleAddress },
  });
  return `
${title}

  API        ${base}
  docs       ${api.url}/
  internal   ${api.internalUrl}/status  /metrics  /readyz  /livez  /global.config.json
  key        ${key}
             without a limit; without a key: 1 request a second
${notes.map((note) => `  ${note}\n`).join('')}
Try:

curl -H 'X-API-Key: ${key}' ${base}/getMasterchainInfo
curl -H 'X-API-Key: ${key}' '${base}/getAddressInformation?address=${sampleAddress}'
curl -H 'X-API-Key: ${key}' ${base}/jsonRPC -d '${body}'

Ctrl-C stops it.

`;
}
