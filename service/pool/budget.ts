/** Extra queries that reads may cause: earned by reads and by time, so that trouble cannot multiply the load. */
export type Budget = {
  /** A read began. */
  earn(): void;
  /** Takes one extra query; false when there is none left. */
  take(): boolean;
};

export type BudgetOptions = {
  /** Extra queries for each read. */
  readonly perRead: number;
  /** Extra queries for each second, so that a few reads can be helped as well. */
  readonly perSecond: number;
  /** Most that can be saved up. */
  readonly burst: number;
};

/** Full at the start. */
export function createBudget(options: BudgetOptions, dependencies: { now: () => number }): Budget {
  let left = options.burst;
  let lastMs = dependencies.now();

  function add(extra: number): void {
    left = Math.min(options.burst, left + extra);
  }

  return {
    earn: () => add(options.perRead),
    take() {
      const nowMs = dependencies.now();
      add(((nowMs - lastMs) / 1000) * options.perSecond);
      lastMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
