import type { Logger } from 'pino';

import type { StartTimer } from './chain/head.ts';

/** Makes blocks by time or by need. */
export type BlockTimer = {
  /** Begins with the blocks by time. */
  start(): void;
  /** Makes a block at once, in a network with a block for each message. */
  messageWaits(): void;
  /** Starts no block within the time. */
  delay(ms: number): void;
  /** Milliseconds of that time that are left; 0 without a delay. */
  delayedMs(): number;
  /** Starts no further block. */
  close(): void;
};

export type BlockTimerOptions = {
  /** Seconds between masterchain blocks. Without it blocks are made on demand only. */
  readonly blockSeconds?: number;
  /** A block as soon as a message from outside waits. */
  readonly blockPerMessage?: boolean;
};

export type BlockTimerDependencies = {
  readonly makeBlock: () => Promise<unknown>;
  /** Reports whether messages wait that the next block can take. */
  readonly hasMessages: () => boolean;
  readonly startTimer: StartTimer;
  /** Milliseconds. */
  readonly now: () => number;
  readonly logger: Logger;
};

/** A block that cannot be made is tried again after this time. The messages that it would take still wait. */
const FAILED_PAUSE_MS = 1000;

export function createBlockTimer(
  { blockSeconds, blockPerMessage = false }: BlockTimerOptions,
  { makeBlock, hasMessages, startTimer, now, logger }: BlockTimerDependencies,
): BlockTimer {
  let cancelTimer: (() => void) | undefined;
  let closed = false;
  let notBeforeMs = -Infinity;

  function later(delayMs: number): void {
    cancelTimer?.();
    cancelTimer = closed ? undefined : startTimer(() => void tick(), Math.max(delayMs, notBeforeMs - now()));
  }

  async function tick(): Promise<void> {
    const startedMs = now();
    let pauseMs = 0;
    try {
      await makeBlock();
    } catch (error) {
      logger.error({ err: error }, 'a block of the private network cannot be made');
      pauseMs = FAILED_PAUSE_MS;
    }
    if (blockSeconds !== undefined) later(Math.max(0, blockSeconds * 1000 - (now() - startedMs)));
    else if (blockPerMessage && hasMessages()) later(pauseMs);
  }

  return {
    start() {
      if (blockSeconds !== undefined) later(blockSeconds * 1000);
    },
    messageWaits() {
      if (blockPerMessage) later(0);
    },
    delay(ms) {
      notBeforeMs = now() + ms;
      if (blockSeconds !== undefined || (blockPerMessage && hasMessages())) later(0);
    },
    delayedMs: () => Math.max(0, notBeforeMs - now()),
    close() {
      closed = true;
      cancelTimer?.();
    },
  };
}
