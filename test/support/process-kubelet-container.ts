import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

import { runProbe, type Probe, type ProbeTarget } from './process-kubelet-probes.ts';
import type { Reaper } from './reaper.ts';

/** What to run for a container. */
export type Command = {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly log: string;
};

/** A container as a pod's spec has it, as far as it is heeded here. */
export type ContainerSpec = {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly terminationMessagePolicy?: string;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
};

export type Container = {
  readonly name: string;
  readonly ready: boolean;
  readonly pid: number | undefined;
  /** Exit code of a container that will not run again. */
  readonly result: number | undefined;
  /** Its entry in `status.containerStatuses`. */
  status(): object;
  start(): void;
  /** Runs the preStop hook, sends SIGTERM, after the grace SIGKILL; resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
};

/** One start of a container's process. */
type Run = { readonly startedAt: string; readonly startedMs: number; readonly log: string };

export type ContainerOptions = {
  readonly spec: ContainerSpec;
  readonly restartPolicy: string;
  /** Address on loopback. */
  readonly host: string;
  /** What to run now; throws an error whose message says what is missing. */
  command(): Promise<Command>;
  /** Called after every change of `status()`. */
  readonly changed: () => void;
  readonly reaper: Reaper;
};

/** Kubernetes begins at 10 s and ends at 5 min; tests wait for restarts. */
const restartFirstMs = 500;
const restartMaxMs = 10_000;
/** After running for so long a container is no longer one that keeps failing. */
const restartResetMs = 30_000;
/** A process that does not heed SIGTERM after a failed probe hangs. */
const hungMs = 5000;
/** What a kubelet takes from the end of a log. */
const messageLengthMax = 2048;
/** For what must appear before a container can start at all. */
const retryMs = 500;

/** Runs one container as a process group, and again as its restart policy says. */
export function createContainer(options: ContainerOptions): Container {
  const { spec, reaper, changed } = options;
  let child: ChildProcess | undefined;
  let probes = new AbortController();
  let state: object = { waiting: { reason: 'ContainerCreating' } };
  let lastState: object = {};
  let [started, ready, stopping] = [false, false, false];
  let [restarts, failures] = [0, 0];
  let result: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended: (() => void) | undefined;

  const signal = (name: NodeJS.Signals): void => signalGroup(child?.pid, name);

  async function launch(): Promise<void> {
    let command: Command;
    try {
      command = await options.command();
    } catch (error) {
      const { message, reason } = error as Error & { reason?: string };
      state = { waiting: { reason: reason ?? 'CreateContainerConfigError', message } };
      changed();
      if (!stopping) timer = setTimeout(() => void launch(), retryMs);
      return;
    }
    if (stopping) return;
    const log = openSync(command.log, 'a');
    const { program, args, environment: env, folder: cwd } = command;
    child = spawn(program, args, { env, cwd, stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    const { pid } = child;
    if (pid !== undefined) reaper.add(-pid);
    const startedAt = now();
    const startedMs = performance.now();
    child.once('error', () => undefined);
    child.once('close', (code, by) => {
      if (pid !== undefined) reaper.drop(-pid);
      exited(code ?? (by === null ? 127 : 128), by, { startedAt, startedMs, log: command.log });
    });
    state = { running: { startedAt } };
    started = spec.startupProbe === undefined;
    ready = started && spec.readinessProbe === undefined;
    probe();
    changed();
  }

  function probe(): void {
    probes = new AbortController();
    const { startupProbe, readinessProbe, livenessProbe } = spec;
    const target: ProbeTarget = { host: options.host, portOf: (port) => portOf(spec, port) };
    const onceStarted = (): void => {
      if (readinessProbe) void runProbe(readinessProbe, target, setReady, probes.signal);
      if (livenessProbe) void runProbe(livenessProbe, target, (ok) => void (ok || replace()), probes.signal);
    };
    if (startupProbe === undefined) return onceStarted();
    const onStartup = (ok: boolean): void => {
      if (!ok) return replace();
      if (started) return;
      started = true;
      startup.abort();
      if (readinessProbe === undefined) ready = true;
      changed();
      onceStarted();
    };
    const startup = new AbortController();
    void runProbe(startupProbe, target, onStartup, AbortSignal.any([startup.signal, probes.signal]));
  }

  /** Ends a process whose probe failed; the restart policy brings the next. */
  function replace(): void {
    const failed = child;
    probes.abort();
    signal('SIGTERM');
    const kill = (): void => void (child === failed && signal('SIGKILL'));
    setTimeout(kill, hungMs).unref();
  }

  function setReady(ok: boolean): void {
    if (ready === ok) return;
    ready = ok;
    changed();
  }

  function exited(code: number, by: NodeJS.Signals | null, run: Run): void {
    const ranMs = performance.now() - run.startedMs;
    child = undefined;
    probes.abort();
    [started, ready] = [false, false];
    const terminated = terminationOf(spec, code, by, run);
    const { exitCode } = terminated;
    const { restartPolicy } = options;
    state = { terminated };
    if (stopping || restartPolicy === 'Never' || (restartPolicy === 'OnFailure' && exitCode === 0)) {
      result = exitCode;
    } else {
      failures = ranMs > restartResetMs ? 1 : failures + 1;
      restarts++;
      lastState = { terminated };
      state = { waiting: { reason: 'CrashLoopBackOff', message: `restarts after exit code ${exitCode}` } };
      timer = setTimeout(() => void launch(), Math.min(restartFirstMs * 2 ** (failures - 1), restartMaxMs));
    }
    changed();
    ended?.();
  }

  return {
    name: spec.name,
    get ready() {
      return ready;
    },
    get pid() {
      return child?.pid;
    },
    get result() {
      return result;
    },
    status: () => ({
      name: spec.name,
      image: spec.image,
      imageID: spec.image,
      ready,
      started,
      restartCount: restarts,
      state,
      lastState,
    }),
    start: () => void launch(),
    async stop(graceMs) {
      if (stopping) return;
      stopping = true;
      clearTimeout(timer);
      if (child === undefined) return;
      const end = new Promise<void>((done) => (ended = done));
      const deadline = performance.now() + graceMs;
      const preStopMs = (spec.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
      await within(end, Math.min(preStopMs, graceMs));
      signal('SIGTERM');
      await within(end, Math.max(0, deadline - performance.now()));
      signal('SIGKILL');
      if (child !== undefined) await end;
    },
  };
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // The group has just ended.
  }
}

function portOf({ ports }: ContainerSpec, port: number | string): number {
  return typeof port === 'number' ? port : (ports?.find(({ name }) => name === port)?.containerPort ?? 0);
}

/** Returns the `terminated` state of a run that ended, with the end of its log if the policy asks for it. */
function terminationOf(
  { terminationMessagePolicy }: ContainerSpec,
  code: number,
  by: NodeJS.Signals | null,
  { startedAt, log }: Run,
) {
  const exitCode = by === null ? code : 128 + (by === 'SIGKILL' ? 9 : 15);
  const hasMessage = exitCode !== 0 && terminationMessagePolicy === 'FallbackToLogsOnError';
  return {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    ...(hasMessage && { message: readFileSync(log, 'utf8').slice(-messageLengthMax) }),
    startedAt,
    finishedAt: now(),
  };
}

/** Waits for the end, but not longer. */
async function within(end: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => (timer = setTimeout(done, ms)));
  await Promise.race([end, late]);
  clearTimeout(timer);
}

/** Time as Kubernetes writes it. */
export function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
