import { defineConfig } from 'vitest/config';

/** Tests that use Postgres or Redis: only these wait for the servers to start. */
const onStores = ['test/support/**/*.test.ts', 'test/service/store/**/*.test.ts'];

export default defineConfig({
  test: {
    pool: 'threads',
    reporters: ['default', './test/support/skip-reporter.ts'],
    projects: [
      { extends: true, test: { name: 'style', include: ['test/style/**/*.test.ts'] } },
      { extends: true, test: { name: 'service', include: ['test/service/**/*.test.ts'], exclude: onStores } },
      { extends: true, test: { name: 'stores', include: onStores, globalSetup: 'test/support/stores-setup.ts' } },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 60_000 } },
    ],
  },
});
