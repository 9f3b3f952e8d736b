import type { Logger } from 'pino';

import type { Detector } from '../interfaces/detector.ts';
import type { ReadContext } from '../contract/answer.ts';
import type { ChainSnapshot, ChainSnapshots } from '../live/contracts/chain-snapshot.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import { versionOf } from '../simulation/account-state.ts';
import { createSimulatedDetection } from '../simulation/detection.ts';
import { simulateMessage } from '../simulation/simulate-message.ts';
import type { SimulatedTrace } from '../simulation/simulate-message.ts';
import { classifySimulated } from '../simulation/simulated-actions.ts';
import { validUntilOf } from './message-validity.ts';
import type { PendingMetrics } from './metrics.ts';
import type { LocalTraces } from './local-traces.ts';
import type { News } from './news.ts';
import { pendingTraceOf } from './pending-trace.ts';
import type { Sharing } from './sharing.ts';
import { BOUNDS, RUN_MS } from './simulation-bounds.ts';
import type { Watched, WatchList } from './watch-list.ts';

/** Name under which the pool and the TVM give turns. */
const CALLER = 'pending traces';

/** Simulates watched messages and publishes their traces. */
export type Simulation = {
  /** Runs a message if the head is newer than its last run and one of its accounts has changed. Never rejects. */
  readonly run: (key: string, watched: Watched) => Promise<void>;
  /** Lets one more hash stand for the trace of a key. */
  readonly alias: (hash: string, key: string) => Promise<void>;
};

export type SimulationDependencies = {
  readonly worlds: Pick<ChainSnapshots, 'open'>;
  readonly detector: Detector;
  readonly watchList: WatchList;
  readonly own: LocalTraces;
  readonly sharing: Sharing;
  readonly news: Pick<News, 'report'>;
  /** Ends all runs. */
  readonly signal: AbortSignal;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
  readonly metrics: PendingMetrics;
  readonly logger: Logger;
};

export function createSimulation(dependencies: SimulationDependencies): Simulation {
  const { worlds, detector, watchList, own, sharing, news, signal, now, metrics, logger } = dependencies;

  async function run(key: string, one: Watched): Promise<void> {
    const context: ReadContext = {
      deadlineMs: now() + RUN_MS,
      signal: AbortSignal.any([signal, AbortSignal.timeout(RUN_MS)]),
      caller: CALLER,
      ...one.sender,
    };
    try {
      const world = await worlds.open(undefined, context);
      const { block, utime } = world.block;
      const { seqno } = block;
      if (seqno === one.seqno || (one.read !== undefined && (await isSame(world, one.read)))) {
        one.seqno = seqno;
        return;
      }
      const trace = await simulateMessage(world, one.message.boc, { ...BOUNDS, signal: context.signal });
      one.seqno = seqno;
      one.read = trace.read;
      metrics.emulated(trace.kind === 'trace' ? 'simulated' : trace.kind);
      if (trace.kind === 'rejected') refuse(key, one, { seqno, utime });
      else await publish(key, one, trace, { before: world, signal: context.signal });
    } catch (error) {
      metrics.emulated('failed');
      logger.debug({ err: error, key }, 'a sent message was not run ahead');
    }
  }

  function refuse(
    key: string,
    one: Watched,
    { seqno, utime }: { readonly seqno: number; readonly utime: number },
  ): void {
    // The contract refuses because of the time: the message expires, and no other is in its place.
    if (one.validUntil !== undefined && utime > one.validUntil) return;
    if (one.isDoubtful || own.get(key) !== undefined) {
      one.refusedAt ??= seqno;
      return;
    }
    one.isDoubtful = true;
    // Not only accounts make a contract refuse, the time does too.
    one.read = undefined;
  }

  async function publish(
    key: string,
    one: Watched,
    simulated: SimulatedTrace,
    { before, signal: runSignal }: { readonly before: ChainSnapshot; readonly signal: AbortSignal },
  ): Promise<void> {
    const detection = createSimulatedDetection(simulated, { before, detector });
    const timeSlice = createTimeSlice(runSignal);
    const classified = await classifySimulated(one.message, simulated, { detection, timeSlice }).catch(
      (error: unknown) => {
        one.read = undefined;
        logger.debug({ err: error, key }, 'a simulated trace was not classified');
        return undefined;
      },
    );
    const isGone = (): boolean => watchList.get(key) !== one;
    if (isGone()) return;
    one.isDoubtful = false;
    one.refusedAt = undefined;
    one.validUntil = validUntilOf(one.message.boc, simulated);
    const previous = own.get(key);
    const trace = pendingTraceOf(one, simulated, classified);
    own.put(trace);
    await sharing.put(trace, previous);
    // A listener that has heard of its end hears no more of it.
    if (!isGone()) {
      await news.report({ kind: 'trace', trace });
      for (const spelling of one.spellings) await alias(spelling, key);
    }
    // The message was dropped during the write.
    if (isGone() && own.get(key) === undefined) await sharing.drop(trace);
  }

  async function alias(hash: string, key: string): Promise<void> {
    own.alias(hash, key);
    await sharing.alias(hash, key);
  }

  return { run, alias };
}

/** Reports whether accounts are the same as at the last run. @param read their versions then, by `workchain:hex` */
async function isSame(world: ChainSnapshot, read: ReadonlyMap<string, string>): Promise<boolean> {
  const accounts = [...read].map(async ([text, before]) => {
    const [workchain = '', id = ''] = text.split(':');
    const account = { workchain: Number(workchain), id: Buffer.from(id, 'hex') };
    return before === versionOf(await world.readShardAccount(account));
  });
  return (await Promise.all(accounts)).every(Boolean);
}
