import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Launch } from './control-plane-source.ts';
import { createReaper, type Reaper } from './reaper.ts';

/** The start takes 4 s on two idle cores; a machine that does much else takes many times that. */
const readyTimeoutMs = 120_000;
const readyPollMs = 50;
/** Threads on other cores stop within a tick of the scheduler. */
const freezeTimeoutMs = 1000;

/** A process collects garbage at this size alone. An API server, whose life here is short, then starts with a quarter less CPU. */
const goMemory = { GOGC: 'off', GOMEMLIMIT: '600MiB' };

/** The processes by name, each with its log in the folder. */
export function createComponents(folder: string) {
  const running = new Map<string, ChildProcess>();
  const reaper: Reaper = createReaper(folder);
  const tail = (name: string): string => readFileSync(join(folder, `${name}.log`), 'utf8').slice(-3000);
  return {
    start(name: string, { program, args }: Launch, flags: readonly string[]): void {
      const log = openSync(join(folder, `${name}.log`), 'a');
      const child = spawn(program, [...args, ...flags], {
        cwd: folder,
        env: { ...process.env, ...goMemory },
        stdio: ['ignore', log, log],
      });
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
    /** Stops the process in its tracks; returns when it stands. */
    freeze(name: string): void {
      const child = running.get(name);
      if (child?.pid === undefined) return;
      const { pid } = child;
      child.kill('SIGSTOP');
      const deadline = Date.now() + freezeTimeoutMs;
      while (!isStopped(pid) && Date.now() < deadline) pauseMs(1);
    },
    thaw: (name: string): void => void running.get(name)?.kill('SIGCONT'),
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

/** The third field of /proc/PID/stat is T; where there is no /proc, the signal is taken at its word. */
function isStopped(pid: number): boolean {
  try {
    return / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

function pauseMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
