import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { configFromGlobalConfig, unlimitedPlan } from '#service/config.ts';
import { makeKey } from '#service/limits/keys.ts';
import { startApi } from '#service/main/roles/api.ts';
import { serve } from './serving.ts';

// The service's process, as `tonplane api` runs it but for its logs. The argument is the path of the operations, `/api/v2` by default.
const [path = '/api/v2'] = process.argv.slice(2);

serve(async ({ globalConfig }) => {
  const key = makeKey(randomBytes);
  const api = await startApi(
    configFromGlobalConfig(globalConfig, 'custom', { port: 0, internalPort: 0 }),
    { keys: [{ id: key.id, sha256: key.sha256, plan: unlimitedPlan }], drainMs: 100 },
    { version: '0.0.0', logger: pino({ level: 'silent' }), register: new Registry() },
  );
  while (api.pool.head() === undefined) await sleep(10);
  return { url: `${api.url}${path}`, key: key.key, close: () => api.close() };
});
