/** Clock of a private network: the machine's clock and the seconds that were skipped. */
export type NetworkClock = {
  /** Unix seconds. The newest block may be later. */
  readonly utime: () => number;
  /** Seconds that the network is ahead of this machine. */
  readonly aheadSeconds: () => number;
  /** Returns the time of a block that is made now. */
  blockUtime(): number;
  /** Moves the clock forward. */
  advance(seconds: number): void;
  /** Sets the time of the next block. The clock continues from there. */
  setNext(utime: number): void;
  /** Records that a block has the time of `blockUtime`. */
  blockMade(): void;
};

export type NetworkClockDependencies = {
  /** Unix time of this machine in milliseconds. */
  readonly now: () => number;
  /** Unix seconds of the newest block; 0 before the first. A stored network's time may be ahead of the machine's clock. */
  readonly newestUtime: () => number;
};

export function createNetworkClock({ now, newestUtime }: NetworkClockDependencies): NetworkClock {
  const nowSeconds = (): number => Math.floor(now() / 1000);
  let skippedSeconds = Math.max(0, newestUtime() - nowSeconds());
  let nextUtime: number | undefined;
  const utime = (): number => nowSeconds() + skippedSeconds;
  return {
    utime,
    aheadSeconds: () => Math.max(0, Math.max(utime(), newestUtime()) - nowSeconds()),
    blockUtime() {
      if (nextUtime === undefined) return utime();
      skippedSeconds = Math.max(0, nextUtime - nowSeconds());
      return nextUtime;
    },
    advance(seconds) {
      skippedSeconds += seconds;
    },
    setNext(wanted) {
      nextUtime = wanted;
    },
    blockMade() {
      nextUtime = undefined;
    },
  };
}
