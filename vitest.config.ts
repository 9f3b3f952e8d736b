import { defineConfig } from 'vitest/config';

/** Tests that use Postgres or Redis: only these wait for the servers to start. */
const onStores = [
  'test/support/**/!(*.cluster).test.ts',
  'test/service/store/**/*.test.ts',
  'test/service/indexer/**/*.store.test.ts',
  'test/service/interpreter/**/*.store.test.ts',
  'test/service/metadata/**/*.store.test.ts',
  'test/service/limits/redis/**/*.test.ts',
  'test/service/pending/**/*.redis.test.ts',
  'test/service/pool/redis/**/*.test.ts',
  'test/service/v3/**/*.store.test.ts',
  'test/e2e/**/*.{redis,store}.test.ts',
];

/** Tests on a Kubernetes control plane: each file starts its own, and two at once are what a small machine bears. */
const onControlPlane = ['test/**/*.cluster.test.ts'];

export default defineConfig({
  test: {
    // A bound on a test that hangs, wide enough for a machine that does much else: no test asserts time by it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // As wide: the default of a second is one that a busy machine misses.
    expect: { poll: { timeout: 30_000 } },
    pool: 'threads',
    reporters: ['default', './test/support/skip-reporter.ts', './test/support/times-reporter.ts'],
    setupFiles: './test/support/file-cpu.ts',
    projects: [
      { extends: true, test: { name: 'style', include: ['test/style/**/*.test.ts'] } },
      { extends: true, test: { name: 'service', include: ['test/service/**/*.test.ts'], exclude: onStores } },
      { extends: true, test: { name: 'stores', include: onStores, globalSetup: 'test/support/stores-setup.ts' } },
      {
        extends: true,
        test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], exclude: [...onControlPlane, ...onStores] },
      },
      {
        extends: true,
        test: { name: 'operator', include: ['test/{operator,crds,charts}/**/*.test.ts'], exclude: onControlPlane },
      },
      {
        extends: true,
        test: { name: 'cluster', include: onControlPlane, globalSetup: 'test/support/control-plane-setup.ts' },
      },
    ],
  },
});
