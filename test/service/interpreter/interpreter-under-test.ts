import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { Detector } from '#service/interfaces/detector.ts';
import {
  createInterpreter,
  type Interpreter,
  type InterpreterDependencies,
  type InterpreterOptions,
} from '#service/interpreter/interpreter.ts';
import { INTERPRETATION_VERSION, type InterpreterTuning } from '#service/interpreter/options.ts';
import type { ChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import { countInterpretations } from '#service/store/interpretations.ts';
import type { Store } from '#service/store/store.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** Pauses that a test does not wait for. */
const quick: Partial<InterpreterTuning> = { idleMs: 10, progressMs: 20 };

export type InterpreterSettings = Omit<InterpreterOptions, 'tuning'> & {
  readonly tuning?: Partial<InterpreterTuning>;
  readonly worlds?: Pick<ChainSnapshots, 'open'>;
  readonly detector?: Detector;
  readonly register?: Registry;
  readonly storeTraces?: InterpreterDependencies['storeTraces'];
  readonly unixMs?: () => number;
};

/** Detects nothing, and so never reads. */
export const ignorant: Detector = { detect: () => Promise.resolve(undefined) };

const nowhere: Pick<ChainSnapshots, 'open'> = { open: () => Promise.reject(new Error('there is no chain')) };

export function startInterpreter(store: Store, settings: InterpreterSettings = {}): Interpreter {
  const { tuning, worlds, detector, register, storeTraces, unixMs, ...options } = settings;
  return createInterpreter(
    { ...options, tuning: { ...quick, ...tuning } },
    {
      store,
      worlds: worlds ?? nowhere,
      detector: detector ?? ignorant,
      readBeginning: () => Promise.resolve([]),
      storeTraces: storeTraces ?? (() => Promise.resolve(0)),
      logger: pino({ level: process.env['INTERPRETER_LOG'] ?? 'silent' }),
      register: register ?? new Registry(),
      now: () => performance.now(),
      unixMs: unixMs ?? Date.now,
      random: Math.random,
    },
  );
}

/** Between two looks. */
const LOOK_MS = 20;

/** Waits until so many blocks are left to do, or none; a look that fails is followed by another. */
export async function untilInterpreted(
  store: Store,
  version = INTERPRETATION_VERSION,
  timeoutMs = 240_000,
  leftMax = 0,
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const left = await countInterpretations(store, version).catch(() => undefined);
    if (left !== undefined && left.todo + left.older <= leftMax) return;
    if (performance.now() > endMs) throw new Error(`not interpreted: ${JSON.stringify(left)}`);
    await sleep(LOOK_MS);
  }
}
