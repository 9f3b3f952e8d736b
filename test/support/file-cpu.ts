import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** CPU of the file's thread from its set-up to its end, milliseconds. */
    cpuMs?: number;
  }
}

const startedUsage = process.threadCpuUsage();

afterAll((_context, suite) => {
  const { user, system } = process.threadCpuUsage(startedUsage);
  suite.file.meta.cpuMs = (user + system) / 1000;
});
