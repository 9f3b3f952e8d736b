import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { formatRawAddress } from '../decode/address.ts';
import { startHeartbeat } from '../runtime/heartbeat.ts';
import { createRetry, pause, type Trouble } from '../runtime/retry.ts';
import type { ChangedAccount, Detector } from '../interfaces/detector.ts';
import type { ChainSnapshots } from '../live/contracts/chain-snapshot.ts';
import {
  claimInterpretations,
  countInterpretations,
  reviewOlder,
  type ClaimedBlocks,
} from '../store/interpretations.ts';
import { writeClassification } from '../store/classification-writer.ts';
import { checkSchema } from '../store/migrate.ts';
import type { Store } from '../store/store.ts';
import type { TraceRow } from '../store/tables.ts';
import { createResilientDetector } from './resilient-detector.ts';
import { interpret } from './interpretation.ts';
import { createInterpreterMetrics } from './metrics.ts';
import {
  interpretationVersions,
  tuningDefaults,
  type InterpretationVersions,
  type InterpreterTuning,
} from './options.ts';
import { createInterpreterProgress, type InterpreterProgressView } from './progress.ts';
import { createRecentTraceStoring, type StoreTraces } from './recent-traces.ts';
import { isClaimLost, isFinal, retryUntilPermanent, type Stage } from './retrying.ts';

/** Interprets indexed blocks: contracts, transfers, actions. Several processes may work in parallel. */
export type Interpreter = {
  /** State for `/status`. */
  readonly status: () => InterpreterStatus;
  /** Ends work in progress. No block is half written. */
  readonly close: () => Promise<void>;
};

export type InterpreterStatus = InterpreterProgressView & {
  /** Blocks that this process works on. */
  readonly claimed: readonly number[];
  /** Failures that are being retried, longest first. */
  readonly troubles: readonly Trouble[];
};

export type InterpreterOptions = {
  /** Versions of the interpretation. Blocks of an older version are interpreted again if a later change concerns them. */
  readonly versions?: InterpretationVersions;
  readonly tuning?: Partial<InterpreterTuning>;
};

export type InterpreterDependencies = {
  readonly store: Store;
  readonly worlds: Pick<ChainSnapshots, 'open'>;
  readonly detector: Detector;
  /** Accounts with code that were there before the first block, and that it has not changed. Rejects as lite servers do. */
  readonly readBeginning: (signal: AbortSignal) => Promise<readonly ChangedAccount[]>;
  /** Stores complete traces as answers show them. Resolves with their number, rejects with the signal's reason. */
  readonly storeTraces: StoreTraces;
  readonly logger: Logger;
  readonly register: Registry;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
  readonly unixMs: () => number;
  /** 0..1. */
  readonly random: () => number;
};

/** Begins at once, and continues through all failures until it is closed. */
export function createInterpreter(options: InterpreterOptions, dependencies: InterpreterDependencies): Interpreter {
  const { store, worlds, detector, readBeginning, storeTraces, logger, register, now, unixMs, random } = dependencies;
  const { versions = interpretationVersions } = options;
  const version = versions.newest;
  const tuning = { ...tuningDefaults, ...options.tuning };
  const closing = new AbortController();
  const { signal } = closing;
  const progress = createInterpreterProgress(now);
  const metrics = createInterpreterMetrics(register, progress.view);
  const retry = createRetry<Stage>({ logger, random, unixMs, onFailure: metrics.retried, isFinal });
  const finder = createResilientDetector({
    worlds,
    detector,
    retry,
    now,
    onFallback: metrics.fellBack,
    onGivenUp(account, error) {
      metrics.gaveUp();
      logger.warn({ err: error, account: formatRawAddress(account, 'upper') }, 'an account could not be examined');
    },
  });
  const storeRecent = createRecentTraceStoring({ ageS: tuning.storedAgeS }, { storeTraces, metrics, unixMs, logger });
  const claims = new Set<ClaimedBlocks>();
  /** Remaining claims that take a single block each, because a block in an earlier claim failed its whole batch. */
  let alone = 0;

  async function work(worker: number): Promise<void> {
    for (;;) {
      const blocksMax = alone > 0 ? 1 : tuning.blocksMax;
      const claim = { version, blocksMax, claimMs: tuning.claimMs };
      const claimed = await retry.run('claim', worker, () => claimInterpretations(store, claim), signal);
      alone = Math.max(0, alone - 1);
      if (claimed !== undefined) await storeRecent(await classifyClaimed(claimed), signal);
      else if (!(await findOlder(worker))) await pause(tuning.idleMs, signal);
    }
  }

  /** Only when all else is done: what is new comes first. */
  async function findOlder(worker: number): Promise<boolean> {
    const older = { changes: versions, blocksMax: tuning.againMax };
    const { queued, passed } = await retry.run('claim', worker, () => reviewOlder(store, older), signal);
    const isFound = queued + passed > 0;
    if (isFound) logger.info({ queued, passed, version }, 'blocks of an older version are interpreted again');
    return isFound;
  }

  /** @returns complete traces that ended in the blocks; empty if the blocks are not interpreted */
  async function classifyClaimed(claimed: ClaimedBlocks): Promise<readonly TraceRow[]> {
    claims.add(claimed);
    const endHeartbeat = startHeartbeat({ claimMs: tuning.claimMs, beat: () => claimed.heartbeat() }, { logger });
    try {
      return await tell(claimed);
    } catch (error) {
      if (signal.aborted) {
        await giveBack(claimed, 0);
        throw error;
      }
      if (isClaimLost(error)) {
        metrics.lost(claimed.seqnos.length);
        logger.debug({ err: error, blocks: claimed.seqnos }, 'blocks were interpreted in vain');
        // Another process has a block of the claim, or the block has changed. The others are due again at once.
        await giveBack(claimed, 0);
      } else {
        await putAside(claimed, error);
      }
      return [];
    } finally {
      endHeartbeat();
      claims.delete(claimed);
    }
  }

  /** @returns complete traces that ended in the blocks */
  async function tell(claimed: ClaimedBlocks): Promise<readonly TraceRow[]> {
    const { seqnos } = claimed;
    const number = seqnos[0] ?? 0;
    const { meaning, counts, traces } = await retry.run(
      'read',
      number,
      retryUntilPermanent(seqnos, () => interpret(seqnos, { store, finder, versions, readBeginning }, signal)),
      signal,
    );
    await retry.run(
      'write',
      number,
      retryUntilPermanent(seqnos, () => writeClassification(store, claimed, meaning)),
      signal,
    );
    metrics.written(seqnos.length, counts);
    progress.written(seqnos.length, counts.traces);
    return traces;
  }

  /** A block that cannot be classified must not block the queue. It is retried later, possibly by a newer release. */
  async function putAside(claimed: ClaimedBlocks, error: unknown): Promise<void> {
    const { length } = claimed.seqnos;
    if (length === 1) {
      metrics.putAside();
      logger.error({ err: error, blocks: claimed.seqnos }, 'a block cannot be interpreted: it is tried again later');
    }
    alone = length === 1 ? alone : length;
    await giveBack(claimed, length === 1 ? tuning.asideMs : 0);
  }

  async function giveBack(claimed: ClaimedBlocks, laterMs: number): Promise<void> {
    await claimed
      .release(laterMs)
      .catch((error: unknown) => logger.debug({ err: error }, 'a claim was not given back'));
  }

  async function watchProgress(): Promise<void> {
    for (;;) {
      progress.left(await retry.run('progress', 0, () => countInterpretations(store, version), signal));
      await pause(tuning.progressMs, signal);
    }
  }

  async function run(): Promise<void> {
    await retry.run('schema', 0, () => checkSchema(store), signal);
    const flows = [...Array.from({ length: tuning.workers }, (_, worker) => work(worker)), watchProgress()];
    // Each gives back what it holds before all has ended.
    await Promise.allSettled(flows);
    await Promise.all(flows);
  }

  const done = run().catch((error: unknown) => {
    if (!signal.aborted) logger.fatal({ err: error }, 'the interpreter ended');
  });

  return {
    status: () => ({
      ...progress.view(),
      claimed: [...claims].flatMap(({ seqnos }) => seqnos),
      troubles: retry.troubles(),
    }),
    async close() {
      closing.abort(new Error('the interpreter is closed'));
      await done;
    },
  };
}
