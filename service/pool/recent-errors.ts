/** One error of a lite server, and how often it came in a row. */
export type RecentError = {
  /** Of the last time, milliseconds of the pool's clock. */
  readonly atMs: number;
  /** Its class, as metrics name it. */
  readonly outcome: string;
  readonly text: string;
  readonly count: number;
};

/** The last errors of one lite server, newest first, for the status page. */
export type RecentErrors = {
  add(outcome: string, text: string): void;
  readonly list: () => readonly RecentError[];
};

/** What fits on a page, for each lite server. */
const ERRORS_MAX = 8;

/** Characters of a text: a lite server may send what it likes. */
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
