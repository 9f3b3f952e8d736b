import { spawn } from 'node:child_process';

/** Ends the processes that a test started, even when the test's own process is killed. */
export type Reaper = {
  /** Puts a process, or by its negative id a process group, on the list. */
  add(pid: number): void;
  /** Takes an ended process off the list, before its id can be used again. */
  drop(pid: number): void;
  /** Kills what is still on the list, and takes the folder away. */
  close(): void;
};

/** Reads `add PID` and `drop PID`; when its input ends, for whatever reason, it kills what is left. */
const script = `
pids=
while read -r word pid; do
  rest=
  for each in $pids; do [ "$each" = "$pid" ] || rest="$rest $each"; done
  if [ "$word" = add ]; then pids="$rest $pid"; else pids=$rest; fi
done
for each in $pids; do kill -KILL "$each" 2>/dev/null; done
[ -z "$1" ] || rm -rf -- "$1"
`;

/**
 * Starts a shell of its own session: Ctrl-C at the tests does not reach it, the end of its input does.
 *
 * @param folder goes with the processes
 */
export function createReaper(folder = ''): Reaper {
  const child = spawn('/bin/sh', ['-c', script, 'reaper', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  // A reaper that was itself killed has nothing more to do; the owner still ends its processes the plain way.
  child.stdin.on('error', () => undefined);
  const tell = (line: string): void => void child.stdin.write(`${line}\n`);
  return {
    add: (pid) => tell(`add ${pid}`),
    drop: (pid) => tell(`drop ${pid}`),
    close: () => void child.stdin.end(),
  };
}
