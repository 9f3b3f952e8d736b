import { defineConfig } from 'vitest/config';

/** Tests that use Postgres or Redis: only these wait for the servers to start. */
const onStores = [
  'test/support/**/*.test.ts',
  'test/service/store/**/*.test.ts',
  'test/service/limits/redis/**/*.test.ts',
];

export default defineConfig({
  test: {
    // A bound on a test that hangs, wide enough for a machine that does much else: no test asserts time by it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'threads',
    reporters: ['default', './test/support/skip-reporter.ts'],
    projects: [
      { extends: true, test: { name: 'style', include: ['test/style/**/*.test.ts'] } },
      { extends: true, test: { name: 'service', include: ['test/service/**/*.test.ts'], exclude: onStores } },
      { extends: true, test: { name: 'stores', include: onStores, globalSetup: 'test/support/stores-setup.ts' } },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'] } },
    ],
  },
});
