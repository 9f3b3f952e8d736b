import type { TestProject } from 'vitest/node';

import { startPostgres } from './postgres-server.ts';
import { startRedis } from './redis-server.ts';

/** Starts the stores once for a test run: vitest's global setup of the projects that need them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  project.provide('postgresUrl', postgres.url);
  project.provide('redisUrl', redis?.url);
  return async () => {
    await Promise.all([postgres.close(), redis?.close()]);
  };
}
