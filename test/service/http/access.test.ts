import { afterEach, expect, it } from 'vitest';

import type { ReadContext } from '#service/contract/answer.ts';
import { scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { allowed, scriptLimits, startListener, type Listener } from './listener.ts';

let listener: Listener | undefined;

afterEach(() => listener?.close());

const grants = { archive: true, liteServerTiers: ['private'] };

it.each([
  ['REST', (url: string) => fetch(`${url}/api/v2/getMasterchainInfo`)],
  [
    'JSON-RPC',
    (url: string) =>
      fetch(`${url}/api/v2/jsonRPC`, {
        method: 'POST',
        body: JSON.stringify({ id: 1, method: 'getMasterchainInfo', params: {} }),
      }),
  ],
])('what the plan opens is known to the operation, by %s', async (_way, call) => {
  const contexts: ReadContext[] = [];
  const scripted = scriptAccounts();
  listener = await startListener({
    limits: scriptLimits(() => ({ ...allowed, grants })),
    accounts: {
      ...scripted,
      readMasterchainInfo: (context) => {
        contexts.push(context);
        return scripted.readMasterchainInfo(context);
      },
    },
  });
  expect((await call(listener.url)).status).toBe(200);
  expect(contexts.map(({ access }) => access)).toEqual([grants]);
});
