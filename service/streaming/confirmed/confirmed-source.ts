import type { Logger } from 'pino';

import type { ReadContext } from '#service/contract/answer.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { pause } from '#service/runtime/retry.ts';
import type { LiveBlockFiles } from '#service/live/blocks/block-files.ts';
import type { LiveSignedBlocks } from '#service/live/blocks/signed-blocks.ts';
import { StoreError } from '#service/store/errors.ts';
import type { AccountKey, Change, StateChange, TraceSnapshot } from '../changes.ts';
import type { WatchedHub } from '../hub.ts';
import { statesOfBlock, type ConfirmedSnapshots } from './confirmed-snapshots.ts';
import type { ConfirmedJettons } from './confirmed-jettons.ts';
import { aheadOf, finalBlocksOf, followedOf, takeInOrder, type Followed } from './followed-chain.ts';
import { createOpenTraces } from './open-traces.ts';
import { blockName, openSeenBlock, type SeenBlock } from './seen-block.ts';
import { createSignedTraces, type SignedTraces } from './signed-traces.ts';

/** Gives the hub what signed shard blocks say, before a masterchain block lists them (service/streaming/README.md#finality). */
export type ConfirmedSource = {
  /** True while a lite server answers non-final queries; null before the first answer. */
  readonly isAvailable: () => boolean | null;
  readonly find: SignedTraces['find'];
  /** Reads what is new. It also runs in intervals. Never rejects. */
  readonly look: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type ConfirmedSourceOptions = {
  /** Milliseconds between two looks; default 250. 0: only when `look` is called. */
  readonly everyMs?: number;
  /** Reports whether lite servers may be asked; default: always. */
  readonly isOn?: () => boolean;
};

export type ConfirmedSourceDependencies = {
  readonly files: Pick<LiveBlockFiles, 'head' | 'masterchainBlock' | 'readFile' | 'readGlobalVersion'>;
  readonly signed: LiveSignedBlocks;
  readonly snapshots: ConfirmedSnapshots;
  /** Last final states of accounts (`correctionsOf`). */
  readonly corrections: (accounts: readonly AccountKey[]) => Promise<readonly StateChange[]>;
  readonly jettons: ConfirmedJettons;
  /** Pending snapshot of a trace by its key. It is shown again when the confirmed one is void. */
  readonly findPending: (key: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
  readonly hub: Pick<WatchedHub, 'publish' | 'watchesConfirmed' | 'wantsConfirmed'>;
  /** Takes the seconds from the first sight of a signed block to its events. */
  readonly onLag?: (seconds: number) => void;
  /** Milliseconds of `performance.now()`. */
  readonly nowMs: () => number;
  readonly logger: Logger;
};

const EVERY_MS = 250;

/** Interval of asking lite servers that did not answer, or when no connection wants the level. */
const PROBE_MS = 10_000;

/** A look that takes longer is given up. */
const LOOK_MS = 5_000;

/** Masterchain blocks of one look. Traces of a longer gap are forgotten. */
const BLOCKS_MAX = 16;

export function createConfirmedSource(
  { everyMs = EVERY_MS, isOn = () => true }: ConfirmedSourceOptions,
  dependencies: ConfirmedSourceDependencies,
): ConfirmedSource {
  const { files, signed, snapshots, corrections, jettons, findPending, hub, onLag, nowMs, logger } = dependencies;
  const ending = new AbortController();
  const { signal } = ending;
  const traces = createOpenTraces<SeenBlock>();
  let isAvailable: boolean | null = null;
  let probedMs = -Infinity;
  /** Masterchain block whose shards are known as final; undefined when nothing is known. */
  let at: Followed | undefined;
  /** Newest replaced blocks without corrections: the index could not be read. The next masterchain block tries again. */
  let uncorrected: readonly SeenBlock[] = [];
  let looking: Promise<void> | undefined;
  const shown = createSignedTraces({ traces, snapshots, hub, at: () => at, signal, logger });
  const isWatched = (account: AccountKey): boolean => hub.watchesConfirmed({ accounts: [account], traces: [] });

  async function followHead(context: ReadContext): Promise<void> {
    const head = files.head();
    if (head === undefined) return;
    if (at === undefined || head.seqno - at.seqno > BLOCKS_MAX) {
      traces.clear();
      const file = await files.readFile(await files.masterchainBlock(head.seqno, context), context);
      at = await followedOf(file, at, files, context);
    }
    while (at.seqno < head.seqno) {
      const seqno: number = at.seqno + 1;
      const file = await files.readFile(await files.masterchainBlock(seqno, context), context);
      const blocks = await finalBlocksOf(
        file.shards,
        at.tops,
        async (id) => traces.signed(blockName(id)) ?? openSeenBlock(await files.readFile(id, context)),
      );
      const next = await followedOf(file, at, files, context);
      const { replaced, dropped } = traces.finish([...blocks, openSeenBlock(file)], seqno);
      at = next;
      // No later look knows the replaced traces.
      await correct(dropped).finally(() => withdraw(replaced));
    }
  }

  /** Shows the last final states of accounts whose confirmed states are void. */
  async function correct(dropped: readonly SeenBlock[]): Promise<void> {
    const blocks = [...uncorrected, ...dropped].slice(-BLOCKS_MAX);
    if (blocks.length === 0) return;
    uncorrected = blocks;
    const accounts = new Set(blocks.flatMap(({ transactions }) => transactions.map(({ account }) => account)));
    const watched = [...accounts].filter(isWatched);
    try {
      if (watched.length > 0) await hub.publish(await corrections(watched));
      await hub.publish(await jettons.corrections(blocks));
      uncorrected = [];
    } catch (error) {
      // The traces of the blocks are withdrawn all the same.
      if (!(error instanceof StoreError)) throw error;
      logger.debug({ err: error }, 'the index was not read for corrections');
    }
  }

  async function withdraw(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await hub.publish([{ kind: 'invalidation', key, reason: 'replaced' }]);
      const again = await findPending(key, signal);
      if (again !== undefined) await hub.publish([again]);
    }
  }

  /** @returns false for a block that lite servers do not have */
  async function take(id: BlockId, context: ReadContext): Promise<boolean> {
    const name = blockName(id);
    if (traces.signed(name) !== undefined || at?.tops.some((top) => blockName(top) === name) === true) return true;
    const seenMs = nowMs();
    const file = await signed.readFile(id, context);
    if (file === undefined) return false;
    const block = openSeenBlock(file);
    await correct(traces.drop(block));
    try {
      if (await show(block)) onLag?.((nowMs() - seenMs) / 1000);
    } catch (error) {
      // The next look begins again, with this block too.
      at = undefined;
      throw error;
    }
    return true;
  }

  /** @returns whether a connection watches what the block has */
  async function show(block: SeenBlock): Promise<boolean> {
    const changes: readonly Change[] = [
      ...(await shown.watched(traces.sign(block))),
      ...statesOfBlock(block).filter(({ account }) => isWatched(account)),
      ...(await jettons.of(block)),
    ];
    if (changes.length > 0) await hub.publish(changes);
    return changes.length > 0;
  }

  async function lookOnce(): Promise<void> {
    const isWanted = isOn() && hub.wantsConfirmed();
    if (!isWanted) {
      at = undefined;
      uncorrected = [];
      traces.clear();
    }
    if (!isOn()) {
      isAvailable = false;
      probedMs = -Infinity;
      return;
    }
    if ((!isWanted || isAvailable !== true) && nowMs() - probedMs < PROBE_MS) return;
    probedMs = nowMs();
    const context: ReadContext = {
      deadlineMs: nowMs() + LOOK_MS,
      signal: AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]),
      caller: 'signed blocks',
    };
    const listed = await signed.list(context);
    isAvailable = listed !== undefined;
    if (listed === undefined || !isWanted) return;
    await followHead(context);
    await takeInOrder(aheadOf(at?.tops ?? [], listed), (id) => take(id, context));
  }

  async function look(): Promise<void> {
    looking ??= lookOnce()
      .catch((error: unknown) => {
        if (signal.aborted) return;
        isAvailable = false;
        logger.debug({ err: error }, 'signed shard blocks were not read');
      })
      .finally(() => (looking = undefined));
    await looking;
  }

  const done = everyMs === 0 ? Promise.resolve() : repeat(look, everyMs, signal).catch(() => undefined);

  return {
    isAvailable: () => isAvailable,
    find: shown.find,
    look,
    async close() {
      ending.abort(new Error('the confirmed source is closed'));
      await Promise.all([done, looking]);
    },
  };
}

/** Looks in intervals. Rejects when the signal aborts. */
async function repeat(look: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    await pause(everyMs, signal);
    await look();
  }
}
