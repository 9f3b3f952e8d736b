import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';

import { configFromGlobalConfig, unlimitedPlan, type ProcessSettings } from '../config.ts';
import { createDevchain } from '../devchain/devchain.ts';
import { startApi, type Api, type ApiDependencies } from './api.ts';
import type { Arguments } from './arguments.ts';
import { loadDevKey } from './dev-key.ts';
import { createStatusLine } from './status-line.ts';

/** The recording that comes with the project, beside the sources as beside the bundle. */
const ownRecording = resolve(
  import.meta.dirname,
  import.meta.url.endsWith('.ts') ? '../..' : '..',
  'test/vectors/realnet',
);

/** An account of the recording that has code, data and a moving balance: the elector. */
const sampleAddress = '-1:3333333333333333333333333333333333333333333333333333333333333333';

/** Ctrl-C must end the process within 2 s, whatever still runs. */
const drainMs = 500;

export type DevDependencies = ApiDependencies & { readonly output: NodeJS.WriteStream };

/**
 * A TON network in this process and the API over it: the recorded chain is played and served by a lite server over ADNL on
 * loopback, to which the pool connects as to any other.
 */
export async function startDev(
  args: Arguments,
  settings: ProcessSettings,
  { version, logger, register, output }: DevDependencies,
): Promise<{ close(): Promise<void> }> {
  output.write('Tonplane: loading the recorded network\n');
  const devchain = await createDevchain(
    { recordingDir: args.recording ?? ownRecording, paceSeconds: args.paceSeconds },
    { logger, register },
  );
  const globalConfig = (): string => JSON.stringify(devchain.globalConfig(), undefined, 2);
  let api: Api;
  const devKey = loadDevKey(args.data, randomBytes);
  try {
    api = await startApi(
      configFromGlobalConfig(globalConfig(), 'custom', settings),
      {
        keys: [{ id: devKey.id, sha256: devKey.sha256, plan: unlimitedPlan }],
        drainMs,
        pages: new Map([['/global.config.json', () => ({ contentType: 'application/json', body: globalConfig() })]]),
      },
      { version, logger, register },
    );
  } catch (error) {
    await devchain.close();
    throw error;
  }
  output.write(welcome(api, devKey.key, args));
  const line = createStatusLine(
    { output },
    {
      facts: async () => ({
        headSeqno: api.pool.head()?.block.seqno,
        lastSeqno: devchain.chain.lastSeqno,
        paceSeconds: args.paceSeconds,
        liteServersUsable: api.pool.status().filter(({ phase }) => phase === 'in').length,
        liteServers: devchain.liteServers.length,
        requests: await api.requests(),
      }),
    },
  );
  return {
    async close() {
      line.close();
      await api.close();
      await devchain.close();
    },
  };
}

function welcome(api: Api, key: string, args: Arguments): string {
  const base = `${api.url}/api/v2`;
  const pace = args.paceSeconds === 0 ? 'all at once' : `a block each ${args.paceSeconds} s`;
  return `
A recorded TON network, played ${pace}.

  API        ${base}
  docs       ${api.url}/
  internal   ${api.internalUrl}/status  /metrics  /readyz  /livez  /global.config.json
  key        ${key}
             without a limit; without a key: 1 request a second

Try:

curl -H 'X-API-Key: ${key}' ${base}/getMasterchainInfo
curl -H 'X-API-Key: ${key}' '${base}/getAddressInformation?address=${sampleAddress}'
curl -H 'X-API-Key: ${key}' ${base}/jsonRPC -d '{"jsonrpc":"2.0","id":"1","method":"getAddressBalance","params":{"address":"${sampleAddress}"}}'

Ctrl-C stops it.

`;
}
