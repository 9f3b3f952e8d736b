import { pino } from 'pino';
import { expect, it } from 'vitest';

import type { ServiceConfig } from '#service/config.ts';
import { warnOfUnknownOperations } from '#service/main/wiring/unknown-operations.ts';

it('a cost of an unknown operation is in the log with the plan and similar names, and one of an alias is not', () => {
  const lines: string[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) });
  const plans = [{ name: 'pro', methodCosts: { shards: 15, account: 2, runGetMethod: 3, getshards: 4 } }];
  warnOfUnknownOperations({ plans } as unknown as ServiceConfig, logger);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 40, plan: 'pro', method: 'getshards', similar: ['getShards'] },
  ]);
});
