import type { IndexProgress } from '../store/indexer-state.ts';

/** Progress of all processes, as Postgres has it. */
export type StoredProgress = {
  /** Returns the progress of the newest answered query; undefined before the first and without an index. */
  latest(): IndexProgress | undefined;
  /** Queries the progress. Rejects like the query. */
  update(): Promise<void>;
};

export type StoredProgressDependencies = {
  readonly read: () => Promise<IndexProgress | undefined>;
  /** Called when the head or the number of missing blocks changed. */
  readonly onMoved: () => void;
  /** Called after each query with the number of missing blocks. */
  readonly onRemaining: (missingBlocks: number) => void;
};

export function createStoredProgress({ read, onMoved, onRemaining }: StoredProgressDependencies): StoredProgress {
  let stored: IndexProgress | undefined;
  let [asked, answered] = [0, 0];
  return {
    latest: () => stored,
    async update() {
      const question = ++asked;
      const found = await read();
      // A later query was answered first.
      if (question < answered) return;
      answered = question;
      const hasMoved = found?.headSeqno !== stored?.headSeqno || found?.missingBlocks !== stored?.missingBlocks;
      if (hasMoved) onMoved();
      stored = found;
      if (found !== undefined) onRemaining(found.missingBlocks);
    },
  };
}
