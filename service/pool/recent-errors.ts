/** Error of a lite server, with the number of consecutive repeats. */
export type RecentError = {
  /** Time of the last repeat, in milliseconds of the pool's clock. */
  readonly atMs: number;
  /** Class of the error, as in metrics. */
  readonly outcome: string;
  readonly text: string;
  readonly count: number;
};

/** Last errors of one lite server, newest first, for the status page. */
export type RecentErrors = {
  add(outcome: string, text: string): void;
  readonly list: () => readonly RecentError[];
};

/** Most errors of each lite server, so that they fit on a page. */
const ERRORS_MAX = 8;

/** Most characters of a text, because a lite server may send any. */
const TEXT_MAX = 200;

export function createRecentErrors({ now }: { now: () => number }): RecentErrors {
  let errors: readonly RecentError[] = [];

  return {
    add(outcome, text) {
      const shown = text.slice(0, TEXT_MAX);
      const [last, ...older] = errors;
      const isSame = last !== undefined && last.outcome === outcome && last.text === shown;
      const error = { atMs: now(), outcome, text: shown, count: isSame ? last.count + 1 : 1 };
      errors = [error, ...(isSame ? older : errors)].slice(0, ERRORS_MAX);
    },
    list: () => errors,
  };
}
