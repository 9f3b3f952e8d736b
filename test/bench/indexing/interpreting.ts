import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { Detector } from '#service/interfaces/detector.ts';
import { createInterpreter } from '#service/interpreter/interpreter.ts';
import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { countInterpretations } from '#service/store/interpretations.ts';
import type { Store } from '#service/store/store.ts';
import { createTraceMaterializer } from '#service/v3/rendering/trace-materializer.ts';

/** The interpreter behind the ledger, without lite servers: no account is of a kind. */
export type RunningInterpreter = {
  /** Resolves when all blocks are interpreted. */
  readonly done: () => Promise<void>;
  /** Actions written so far. */
  readonly actions: () => Promise<number>;
  close(): Promise<void>;
};

const detector: Detector = { detect: () => Promise.resolve(undefined) };

/** Its accounts have no code. */
const emptyWorld = { readAccount: () => Promise.resolve({ code: null }) } as unknown as ChainSnapshot;

const LOOK_MS = 50;

export function startInterpreting(store: Store): RunningInterpreter {
  const register = new Registry();
  const interpreter = createInterpreter(
    {},
    {
      store,
      worlds: { open: () => Promise.resolve(emptyWorld) },
      detector,
      readBeginning: () => Promise.resolve([]),
      storeTraces: createTraceMaterializer({ store }).store,
      logger: pino({ level: 'warn' }, process.stderr),
      register,
      now: () => performance.now(),
      unixMs: Date.now,
      random: Math.random,
    },
  );
  return {
    async done() {
      while ((await countInterpretations(store, INTERPRETATION_VERSION)).todo > 0)
        await new Promise((seen) => setTimeout(seen, LOOK_MS));
    },
    async actions() {
      const values = await register.getSingleMetric('ton_interpreter_actions_total')?.get();
      return values?.values[0]?.value ?? 0;
    },
    close: () => interpreter.close(),
  };
}
