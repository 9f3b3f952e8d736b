import { afterAll } from 'vitest';

import { drawn } from './volume.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** CPU of the file's thread from its set-up to its end, milliseconds. */
    cpuMs?: number;
    /** Cases of the file's lists, and those that the volume left out. */
    drawn?: { readonly leftOut: number; readonly of: number };
    /** A test that the volume left out. */
    isLeftOut?: boolean;
  }
}

const startedUsage = process.threadCpuUsage();
// Files of a thread share the module.
Object.assign(drawn, { leftOut: 0, of: 0 });

// oxlint-disable-next-line no-empty-pattern -- vitest takes fixtures from the first argument, by a pattern
afterAll(({}, suite) => {
  const { user, system } = process.threadCpuUsage(startedUsage);
  suite.file.meta.cpuMs = (user + system) / 1000;
  suite.file.meta.drawn = { ...drawn };
});
