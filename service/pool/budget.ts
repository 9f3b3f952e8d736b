/** Budget of extra queries for reads. Reads and time earn it, so that trouble cannot multiply the load. */
export type Budget = {
  /** Called when a read begins. */
  earn(): void;
  /** Takes one extra query; returns false when none is left. */
  take(): boolean;
};

export type BudgetOptions = {
  /** Extra queries earned by each read. */
  readonly perRead: number;
  /** Extra queries earned each second, so that a few reads can be helped too. */
  readonly perSecond: number;
  /** Most extra queries saved up. */
  readonly burst: number;
};

/** Creates a budget, full at the start. */
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
