/** Reads a sequence ahead of its consumer. Reads run in parallel, bounded in bytes; items return in order. */
export type ReadAhead<T> = {
  /** The next items, at least one: the items that are ready. With `patient` also later items, until a limit is met or the sequence ends. */
  readonly take: (limits: TakeLimits, patient: boolean) => Promise<readonly T[]>;
  /** Bytes of read items that the consumer has not taken. */
  readonly bufferedBytes: () => number;
  /** Reads in progress. */
  readonly reading: () => number;
  /** Ends the reads in progress. */
  readonly close: () => void;
};

export type TakeLimits = { readonly itemsMax: number; readonly bytesMax: number };

export type ReadAheadOptions = {
  readonly first: number;
  /** Items in progress or ready at a time. */
  readonly itemsMax: number;
  /** Bytes of ready items and items in progress. An item in progress counts as much as the last items. A larger item may be alone. */
  readonly bytesMax: number;
  /** Assumed bytes of an item before the first read. */
  readonly bytesGuess: number;
};

export type ReadAheadDependencies<T> = {
  /** Rejects when the signal is aborted, or with a final error. */
  readonly read: (number: number, signal: AbortSignal) => Promise<T>;
  readonly bytesOf: (item: T) => number;
  /** The last available item. */
  readonly last: () => number;
  /** Resolves when an item of this number may be available. */
  readonly awaitItem: (number: number, signal: AbortSignal) => Promise<void>;
  /** Ends everything. */
  readonly signal: AbortSignal;
};

type Entry<T> = { readonly reading: Promise<T>; item: { readonly value: T; readonly bytes: number } | undefined };

export function createReadAhead<T>(options: ReadAheadOptions, dependencies: ReadAheadDependencies<T>): ReadAhead<T> {
  const { read, bytesOf, last, awaitItem } = dependencies;
  const ended = new AbortController();
  const signal = AbortSignal.any([dependencies.signal, ended.signal]);
  const entries = new Map<number, Entry<T>>();
  let nextRead = options.first;
  let nextTaken = options.first;
  let bufferedBytes = 0;
  let reading = 0;
  let usualBytes = options.bytesGuess;

  function launch(): void {
    while (
      !signal.aborted &&
      nextRead <= last() &&
      hasRoom({ items: entries.size, bufferedBytes, reading, usualBytes }, options)
    ) {
      const entry: Entry<T> = { reading: start(nextRead), item: undefined };
      entries.set(nextRead, entry);
      nextRead += 1;
      entry.reading.then(
        (value) => settle(entry, value),
        // The consumer of the item receives the error.
        () => void (reading -= 1),
      );
    }
  }

  function start(number: number): Promise<T> {
    reading += 1;
    return read(number, signal);
  }

  function settle(entry: Entry<T>, value: T): void {
    const bytes = bytesOf(value);
    reading -= 1;
    bufferedBytes += bytes;
    usualBytes = (usualBytes * 7 + bytes) / 8;
    entry.item = { value, bytes };
    launch();
  }

  async function awaitFirst(): Promise<void> {
    signal.throwIfAborted();
    launch();
    while (!entries.has(nextTaken)) {
      await awaitItem(nextTaken, signal);
      signal.throwIfAborted();
      launch();
    }
    await entries.get(nextTaken)?.reading;
  }

  return {
    async take({ itemsMax, bytesMax }, patient) {
      const taken: T[] = [];
      let bytes = 0;
      await awaitFirst();
      while (taken.length < itemsMax && bytes < bytesMax) {
        const entry = entries.get(nextTaken);
        if (entry === undefined) break;
        if (entry.item === undefined && !patient) break;
        const value = await entry.reading;
        entries.delete(nextTaken);
        nextTaken += 1;
        taken.push(value);
        bytes += entry.item?.bytes ?? 0;
        bufferedBytes -= entry.item?.bytes ?? 0;
        launch();
      }
      return taken;
    },
    bufferedBytes: () => bufferedBytes,
    reading: () => reading,
    close: () => ended.abort(new Error('nobody reads on')),
  };
}

/** True if another item may be read. */
export function hasRoom(
  now: {
    readonly items: number;
    readonly bufferedBytes: number;
    readonly reading: number;
    readonly usualBytes: number;
  },
  { itemsMax, bytesMax }: Pick<ReadAheadOptions, 'itemsMax' | 'bytesMax'>,
): boolean {
  if (now.items === 0) return true;
  return now.items < itemsMax && now.bufferedBytes + (now.reading + 1) * now.usualBytes <= bytesMax;
}
