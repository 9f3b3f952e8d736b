import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Launch } from './control-plane-source.ts';
import { createReaper, type Reaper } from './reaper.ts';

/** The start takes 4 s on two idle cores; a machine that does much else takes many times that. */
const readyTimeoutMs = 120_000;
const readyPollMs = 50;

/** The processes by name, each with its log in the folder. */
export function createComponents(folder: string) {
  const running = new Map<string, ChildProcess>();
  const reaper: Reaper = createReaper();
  const tail = (name: string): string => readFileSync(join(folder, `${name}.log`), 'utf8').slice(-3000);
  return {
    start(name: string, { program, args }: Launch, flags: readonly string[]): void {
      const log = openSync(join(folder, `${name}.log`), 'a');
      const child = spawn(program, [...args, ...flags], { cwd: folder, stdio: ['ignore', log, log] });
      closeSync(log);
      const { pid } = child;
      if (pid === undefined) throw new Error(`${program} cannot be started`);
      child.on('error', () => undefined);
      reaper.add(pid);
      child.once('exit', () => reaper.drop(pid));
      running.set(name, child);
    },
    /** Polls until it holds; an ended process or the timeout is an error with the end of its log. */
    async until(name: string, holds: () => Promise<boolean>): Promise<void> {
      const deadline = Date.now() + readyTimeoutMs;
      while (!(await holds())) {
        const child = running.get(name);
        if (child === undefined || hasEnded(child)) throw new Error(`${name} ended:\n${tail(name)}`);
        if (Date.now() > deadline) throw new Error(`${name} is not ready:\n${tail(name)}`);
        await sleep(readyPollMs);
      }
    },
    signal: (name: string, signal: NodeJS.Signals): void => void running.get(name)?.kill(signal),
    async kill(name: string): Promise<void> {
      const child = running.get(name);
      running.delete(name);
      if (child === undefined || hasEnded(child)) return;
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await ended;
    },
    close: () => reaper.close(),
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
