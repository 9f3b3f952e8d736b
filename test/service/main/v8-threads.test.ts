import { execFile } from 'node:child_process';
import { getPriority } from 'node:os';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** Niceness of the threads of a process that restrains those of V8, by what they are called. */
async function nicenessOn(cores: number): Promise<readonly (readonly [name: string, niceness: number])[]> {
  const script = `
    import { readdirSync, readFileSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { restrainV8Threads } from ${JSON.stringify(import.meta.resolve('#service/main/v8-threads.ts'))};
    restrainV8Threads(${cores});
    const threads = readdirSync('/proc/self/task').map((id) =>
      [readFileSync('/proc/self/task/' + id + '/comm', 'utf8').trim(), getPriority(Number(id)) - getPriority()]);
    console.log(JSON.stringify(threads));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return JSON.parse(stdout) as [string, number][];
}

describe.runIf(process.platform === 'linux')("V8's threads", () => {
  it('yield to ours on few cores', async () => {
    const threads = await nicenessOn(2);
    const helpers = threads.filter(([name]) => name === 'node-V8Worker');
    expect(helpers.length).toBeGreaterThan(0);
    expect(new Set(helpers.map(([, niceness]) => niceness))).toEqual(new Set([Math.min(10, 19 - getPriority())]));
    const others = threads.filter(([name]) => name !== 'node-V8Worker');
    expect(new Set(others.map(([, niceness]) => niceness))).toEqual(new Set([0]));
  });

  it('have cores of their own where there are more', async () => {
    expect(new Set((await nicenessOn(4)).map(([, niceness]) => niceness))).toEqual(new Set([0]));
  });
});
