/**
 * Limit of the reads in flight at one lite server. The limit grows while answers come about as fast as the fastest. It shrinks when they slow down or
 * the server reports overload.
 */
export type InFlightLimit = {
  /** Returns the most reads at a time. */
  current(): number;
  /** Records an answer of this function after `ms`. @param inFlight reads in progress then, this one included */
  answered(functionName: string, ms: number, inFlight: number): void;
  /** Records an overload, or too long a silence. */
  overloaded(): void;
  /** Sets the upper bound of the limit. */
  setCeiling(ceiling: number): void;
};

/**
 * Lowest limit. A node works on a few queries at once (service/liteserver/README.md#timers). With fewer in flight, its latency says nothing about
 * load from here.
 */
const FLOOR = 4;

/** First limit. A usual node can serve it; a large one serves far more. Growth to that takes a second or two of full load. */
const START = 64;

/** Answers of one function before the limit is adjusted, so that one slow answer does not decide. */
const WINDOW_ANSWERS = 16;

/** Milliseconds before the limit is adjusted again, so that the last change has an effect. */
const WINDOW_MS = 100;

/** Most latencies of one window. A median of more is the same. */
const LATENCIES_MAX = 128;

/** Ratio to the fastest window up to which answers are not slow. Half of that time is work, half waiting at the lite server. */
const TOLERANCE = 2;

/** Milliseconds of difference that are noise of timers and networks. */
const NOISE_MS = 5;

/** Largest reduction by one window; the next window measures its effect. */
const SHRINK_MIN = 0.5;

/** Part of the limit that stays after an overload, at most once in `WINDOW_MS`. Reads in progress then report the same overload. */
const OVERLOAD_PART = 0.75;

/**
 * Milliseconds until the fastest window expires, because paths through the network change. Under full load it is then measured again with a quarter
 * of the reads, for some tenths of a second. Otherwise the waiting caused by this limit would count as the server's own latency.
 */
const FASTEST_OLD_MS = 30_000;
const MEASURING_PART = 1 / 4;

/** Longest measurement, in case the function gets no more reads during it. */
const MEASURING_MS_MAX = 1_000;

/** Age in milliseconds from which further functions are measured together with one. */
const FASTEST_FRESH_MS = 10_000;

/** Most functions. A lite server has 29 (service/liteserver/README.md#functions); the bound only limits a mistake. */
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
  /** Measurement in progress: its function, and the limit before. */
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
    // With few reads in flight the slowness has another cause, and no more room is needed.
    const isLoaded = record.inFlightMost >= limit / 2;
    const ageMs = now() - record.fastestSinceMs;
    const isMeasured = measuring !== undefined && (measuring.record === record || ageMs > FASTEST_FRESH_MS);
    if (fastestMs === undefined || ms <= fastestMs || isMeasured || (ageMs > FASTEST_OLD_MS && !isLoaded)) {
      record.fastestMs = ms;
      record.fastestSinceMs = now();
    } else if (ageMs > FASTEST_OLD_MS && measuring === undefined) {
      measuring = { record, limit, untilMs: now() + 2 * ms + MEASURING_MS_MAX };
      become(limit * MEASURING_PART);
      // Reads in progress began before the change, so windows begin after them.
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

/** Returns the median of at least one number. */
function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
