import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    pool: 'threads',
    projects: [
      { extends: true, test: { name: 'style', include: ['test/style/**/*.test.ts'] } },
      { extends: true, test: { name: 'service', include: ['test/service/**/*.test.ts', 'test/support/**/*.test.ts'] } },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'] } },
    ],
  },
});
