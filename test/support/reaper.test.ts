import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { createReaper } from './reaper.ts';

const sleeper = (): ChildProcess => spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
const end = (child: ChildProcess): Promise<string> =>
  new Promise((done) => child.once('exit', (_, signal) => done(signal ?? '')));

describe('the reaper', () => {
  it('kills processes and groups on its list when its input ends, and no others; its folder goes too', async () => {
    const [process_, group, spared] = [sleeper(), sleeper(), sleeper()];
    const ends = [end(process_), end(group)];
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-reaper-'));
    const reaper = createReaper(folder);
    reaper.add(process_.pid ?? 0);
    reaper.add(spared.pid ?? 0);
    reaper.add(-(group.pid ?? 0));
    reaper.drop(spared.pid ?? 0);
    reaper.close();
    expect(await Promise.all(ends)).toEqual(['SIGKILL', 'SIGKILL']);
    expect(spared.signalCode).toBeNull();
    await expect.poll(() => existsSync(folder)).toBe(false);
    spared.kill();
  });
});
