/**
 * How many reads one lite server is given at a time: more while its answers come about as fast as its fastest, fewer when they slow
 * down or it says that it has too much to do.
 */
export type InFlightLimit = {
  /** Reads at a time. */
  current(): number;
  /** An answer of this function came after `ms`. @param inFlight reads under way then, this one included */
  answered(functionName: string, ms: number, inFlight: number): void;
  /** It had too much to do, or was silent for too long. */
  overloaded(): void;
  /** Most that it is ever given. */
  setCeiling(ceiling: number): void;
};

/** A node works on a few queries at once (lite server sheet 1.4): with fewer in flight its latency says nothing about our load. */
const FLOOR = 4;

/** At the start: what a usual node bears, far from what a large one does; the way up takes a second or two of full load. */
const START = 64;

/** The limit is looked at after so many answers of one function, so that one slow answer does not decide... */
const WINDOW_ANSWERS = 16;

/** ...and after this time, so that its last change shows in them. */
const WINDOW_MS = 100;

/** Latencies of one window that are looked at: a median of more is the same. */
const LATENCIES_MAX = 128;

/** Answers that take up to twice as long as the fastest windows are not slow: half of that is work, half waiting at the lite server. */
const TOLERANCE = 2;

/** Less than this is noise of timers and networks. */
const NOISE_MS = 5;

/** At most halved by one window: the next one sees what that did. */
const SHRINK_MIN = 0.5;

/** Part that is left after an overload, at most once in `WINDOW_MS`: what was under way then says the same. */
const OVERLOAD_PART = 0.75;

/**
 * The fastest window is forgotten after this time, since ways through the network change. Under full load it is measured anew with a
 * quarter of the reads, for some tenths of a second: else the waiting that we cause would pass for its nature.
 */
const FASTEST_OLD_MS = 30_000;
const MEASURING_PART = 1 / 4;

/** A function that is asked no more in the middle of that holds up nobody for longer. */
const MEASURING_MS_MAX = 1_000;

/** While one function is measured anew, others are as well, if they were not lately. */
const FASTEST_FRESH_MS = 10_000;

/** Functions of a lite server are 29 (lite server sheet 5); the bound only keeps a mistake from growing. */
const FUNCTIONS_MAX = 64;

type Record = {
  latencies: number[];
  answers: number;
  inFlightMost: number;
  windowStartMs: number;
  /** Median of the fastest window, in milliseconds. */
  fastestMs: number | undefined;
  fastestSinceMs: number;
};

/** @param options.ceiling most reads at a time, at least 1 */
export function createInFlightLimit(
  options: { readonly ceiling: number },
  dependencies: { readonly now: () => number },
): InFlightLimit {
  const { now } = dependencies;
  let { ceiling } = options;
  let limit = Math.min(START, ceiling);
  let overloadedMs = Number.NEGATIVE_INFINITY;
  /** While a function is measured anew: which, and the limit before. */
  let measuring: { readonly record: Record; readonly limit: number; readonly untilMs: number } | undefined;
  const records = new Map<string, Record>();

  function recordOf(functionName: string): Record | undefined {
    const known = records.get(functionName);
    if (known !== undefined || records.size >= FUNCTIONS_MAX) return known;
    const record: Record = {
      ...emptyWindow(now()),
      fastestMs: undefined,
      fastestSinceMs: now(),
    };
    records.set(functionName, record);
    return record;
  }

  function become(next: number): void {
    limit = Math.max(Math.min(FLOOR, ceiling), Math.min(ceiling, next));
  }

  function conclude(record: Record): void {
    const ms = median(record.latencies);
    const { fastestMs } = record;
    // With few reads in flight it is not us who make it slow, and no more room is needed.
    const isLoaded = record.inFlightMost >= limit / 2;
    const ageMs = now() - record.fastestSinceMs;
    const isMeasured = measuring !== undefined && (measuring.record === record || ageMs > FASTEST_FRESH_MS);
    if (fastestMs === undefined || ms <= fastestMs || isMeasured || (ageMs > FASTEST_OLD_MS && !isLoaded)) {
      record.fastestMs = ms;
      record.fastestSinceMs = now();
    } else if (ageMs > FASTEST_OLD_MS && measuring === undefined) {
      measuring = { record, limit, untilMs: now() + 2 * ms + MEASURING_MS_MAX };
      become(limit * MEASURING_PART);
      // What is under way now was asked before the change: windows begin after it.
      for (const other of records.values()) Object.assign(other, emptyWindow(now() + 2 * ms));
      return;
    }
    if (measuring !== undefined && (measuring.record === record || now() > measuring.untilMs)) {
      become(measuring.limit);
      measuring = undefined;
    } else if (isLoaded && measuring === undefined) {
      const part = (TOLERANCE * ((record.fastestMs ?? ms) + NOISE_MS)) / (ms + NOISE_MS);
      become(part < 1 ? limit * Math.max(SHRINK_MIN, part) : limit + Math.sqrt(limit));
    }
    Object.assign(record, emptyWindow(now()));
  }

  return {
    current: () => Math.floor(limit),
    answered(functionName, ms, inFlight) {
      const record = recordOf(functionName);
      if (record === undefined || now() < record.windowStartMs) return;
      record.answers += 1;
      record.inFlightMost = Math.max(record.inFlightMost, inFlight);
      if (record.latencies.length < LATENCIES_MAX) record.latencies.push(ms);
      if (record.answers >= WINDOW_ANSWERS && now() - record.windowStartMs >= WINDOW_MS) conclude(record);
    },
    overloaded() {
      if (now() - overloadedMs < WINDOW_MS) return;
      overloadedMs = now();
      become(limit * OVERLOAD_PART);
    },
    setCeiling(next) {
      ceiling = next;
      become(limit);
    },
  };
}

function emptyWindow(windowStartMs: number): Pick<Record, 'latencies' | 'answers' | 'inFlightMost' | 'windowStartMs'> {
  return { latencies: [], answers: 0, inFlightMost: 0, windowStartMs };
}

/** Of at least one number. */
function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
