import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

import { configDefaults, defineConfig } from 'vitest/config';

import { apart, onControlPlane, onStores, timed } from './test/support/file-groups.ts';
import { leftOut } from './test/support/repeated-kinds.ts';
import { countOf } from './test/support/volume.ts';

/** Projects whose tests start processes build the bundle first. */
const programs = ['test/support/bundle-setup.ts'];

/** Files of these projects share the threads and the modules that a thread has loaded: a load costs more than most files. */
const together = { isolate: false } as const;

export default defineConfig({
  test: {
    // A bound on a test that hangs, wide enough for a machine that does much else: no test asserts time by it.
    testTimeout: countOf({ quick: 300_000, full: 300_000, long: 3_600_000 }),
    hookTimeout: 300_000,
    // As wide: the default of a second is one that a busy machine misses.
    expect: { poll: { timeout: 60_000 } },
    pool: 'threads',
    // Node loads the files itself: Vite would transform each module once for each project.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Many files wait for other processes, so two cores take three files at once.
    maxWorkers: availableParallelism() + 1,
    sequence: { groupOrder: 1 },
    // Tests start the service and the operator again and again from the same files.
    env: {
      NODE_COMPILE_CACHE: resolve(import.meta.dirname, 'node_modules/.cache/compile'),
      TONPLANE_PROGRAMS: 'built',
    },
    // Projects add theirs.
    exclude: [...configDefaults.exclude, ...leftOut],
    reporters: [
      'default',
      './test/support/skip-reporter.ts',
      './test/support/times-reporter.ts',
      './test/support/volume-reporter.ts',
    ],
    setupFiles: ['./test/support/file-cpu.ts', './test/support/native-sha256.ts'],
    coverage: {
      provider: 'v8',
      include: ['{service,operator}/**/*.ts'],
      exclude: ['**/*.gen.ts'],
      reporter: ['text', 'html', resolve(import.meta.dirname, 'test/support/stage-report.ts')],
    },
    projects: [
      { extends: true, test: { name: 'style', include: ['test/style/**/*.test.ts'], ...together } },
      {
        extends: true,
        test: {
          name: 'service',
          include: ['test/service/**/*.test.ts'],
          exclude: [...onStores, ...apart, ...timed],
          ...together,
        },
      },
      // Mocks of modules need the runner of Vite.
      { extends: true, test: { name: 'apart', include: apart, experimental: { viteModuleRunner: true } } },
      // The last group of the run.
      {
        extends: true,
        test: { name: 'timed', include: timed, maxWorkers: 2, sequence: { groupOrder: 2 }, ...together },
      },
      {
        extends: true,
        test: {
          name: 'stores',
          include: onStores,
          globalSetup: [...programs, 'test/support/stores-setup.ts'],
          ...together,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...onControlPlane, ...onStores, ...timed],
          globalSetup: programs,
          ...together,
        },
      },
      {
        extends: true,
        test: {
          name: 'operator',
          include: ['test/{operator,crds,charts}/**/*.test.ts'],
          exclude: onControlPlane,
          ...together,
        },
      },
      {
        extends: true,
        test: {
          name: 'cluster',
          include: onControlPlane,
          globalSetup: [...programs, 'test/support/control-plane-setup.ts'],
          ...together,
        },
      },
    ],
  },
});
