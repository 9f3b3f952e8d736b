import type { Devchain } from '#service/devchain/devchain.ts';
import { getBlockHeader } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import { checkBlockHeader } from '#service/proof/header-proof.ts';
import type { Faults } from './network.ts';
import { within } from './network.ts';

/** Returns random numbers 0..1 of a seed, always the same (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Outcome of many reads. */
export type Outcome = {
  /** Codes of errors. */
  readonly failed: string[];
  /** Answers that differ from the recorded chain. */
  wrong: number;
  /** Heads that were older than an earlier one. */
  regressions: number;
  /** Time of each read in milliseconds, if requested. */
  readonly ms: number[];
  reads: number;
};

/**
 * Reads block headers anywhere in the chain, verified, several at a time, from the cache only where `isCached`, until `isOver`. Each caller also
 * reads the head before each read.
 */
export async function readHeaders(
  scene: { pool: Pool; network: Devchain; random: () => number },
  options: {
    callers: number;
    timeoutMs: number;
    pauseMs?: number;
    isCached?: boolean;
    isTimed?: boolean;
    isOver: (reads: number) => boolean;
  },
): Promise<Outcome> {
  const { pool, network, random } = scene;
  const outcome: Outcome = { failed: [], wrong: 0, regressions: 0, ms: [], reads: 0 };
  const sharing = options.isCached === true ? { shareAs: 'header', immutable: true } : {};

  async function call(): Promise<void> {
    let seenSeqno = 0;
    while (!options.isOver(outcome.reads)) {
      outcome.reads += 1;
      const { seqno } = pool.head()!.block;
      if (seqno < seenSeqno) outcome.regressions += 1;
      seenSeqno = seqno;
      const expected = network.chain.masterchain(1 + Math.floor(random() * (seqno - 1)))!;
      const startedMs = performance.now();
      try {
        const { value } = await pool.query(getBlockHeader, { id: expected.id, mode: 0 }, within(options.timeoutMs), {
          ...sharing,
          check: (answer) => checkBlockHeader({ block: expected.id }, answer),
        });
        if (value.info.utime !== expected.header.utime) outcome.wrong += 1;
      } catch (error) {
        outcome.failed.push(String((error as { code?: string }).code ?? error));
      }
      if (options.isTimed !== false) outcome.ms.push(performance.now() - startedMs);
      if (options.pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, options.pauseMs));
    }
  }

  await Promise.all(Array.from({ length: options.callers }, call));
  return outcome;
}

/** Every fault of a lite server that a read may meet. */
export const badWays: readonly Faults[] = [
  { silent: true },
  { transport: { silent: 'answers' } },
  { transport: { silent: 'handshake' } },
  { transport: { refuse: true } },
  { transport: { delayMs: 5_000 } },
  { transport: { delayMs: 80 } },
  { transport: { delayMs: { medianMs: 30, sigma: 1.5 } } },
  { clockSkewSeconds: 3_600 },
  { clockSkewSeconds: -3_600 },
  { transport: { halfFrame: true } },
  { transport: { badFrameHash: true } },
  { transport: { closeAfterIdleMs: 20 } },
  { transport: { closeAfterFrames: 3 } },
  { transport: { garbage: true } },
  { overloadedAfterMs: 50 },
  { notReady: 'lagging' },
  { notReady: 'pruned' },
  { refuse: { code: 429, text: 'too many requests' } },
  { refuse: { code: 228, text: 'too many requests' } },
  { tip: { kind: 'stale', seqno: 300 } },
  { tip: { kind: 'behind', blocks: 9 } },
  { tip: { kind: 'backwards', blocks: 20 } },
  { tip: { kind: 'future', blocks: 1_000_000 } },
];

/** Every forgery of an answer about a block. */
export const forgeries: readonly Faults[] = [
  { only: ['getBlockHeader'], wrongId: true },
  { only: ['getBlockHeader'], proof: 'wrongHash' },
  { only: ['getBlockHeader'], proof: 'storedHash' },
  { only: ['getBlockHeader'], proof: 'missingCell' },
];

/** Makes one lite server of the network bad, or good again. */
export async function spoil(network: Devchain, index: number, faults: Faults): Promise<void> {
  const liteServer = network.liteServers[index]!;
  await liteServer.setFaults(faults);
  if (faults.transport?.refuse) liteServer.resetConnections();
}
