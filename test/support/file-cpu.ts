import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** CPU of the file's thread from its set-up to its end, milliseconds. */
    cpuMs?: number;
  }
}

const startedUsage = process.threadCpuUsage();

// oxlint-disable-next-line no-empty-pattern -- vitest takes fixtures from the first argument, by a pattern
afterAll(({}, suite) => {
  const { user, system } = process.threadCpuUsage(startedUsage);
  suite.file.meta.cpuMs = (user + system) / 1000;
});
