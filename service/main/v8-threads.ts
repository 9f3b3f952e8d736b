import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Cores up to which V8's own threads take turns with ours. */
const fewCores = 2;

/** As Node names the threads that compile, mark and sweep for V8. */
const helperName = 'node-V8Worker';

/** Added to that of the process: where both want a core, a helper gets a tenth of what ours do. Of the slowest answers some had been twice as long beside one. */
const helperNiceness = 10;

/** Of the kernel. */
const nicenessMax = 19;

/**
 * Where cores are few, young objects are collected by the thread that made them (helpers that had to wait for a core made such pauses last up to 10 ms instead of
 * 2 or 3), and what V8 does beside us waits for what we do. To be called once the process has started.
 */
export function restrainV8Threads(cores = availableParallelism()): void {
  if (cores > fewCores) return;
  setFlagsFromString('--no-parallel-scavenge');
  if (process.platform === 'linux') lowerHelpers();
}

/** The kernel takes a thread's id where a process's is wanted. */
function lowerHelpers(): void {
  const tasks = '/proc/self/task';
  const lowered = Math.min(nicenessMax, getPriority() + helperNiceness);
  try {
    for (const id of readdirSync(tasks)) {
      if (readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === helperName) setPriority(Number(id), lowered);
    }
  } catch {
    // A sandbox may forbid it, and a thread may have ended: all works without.
  }
}
