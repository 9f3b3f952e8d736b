import { createRate, duration, etaSeconds, grouped, WINDOW_MS } from '../runtime/rate.ts';
import type { InterpretationsLeft } from '../store/interpretations.ts';

/** Progress of the interpreter in `/status`. */
export type InterpreterProgressView = {
  /** Rate of this process over the last minute. */
  readonly blocksPerSecond: number;
  readonly tracesPerSecond: number;
  /** Masterchain blocks that no process has interpreted yet; undefined until counted. */
  readonly remainingBlocks: number | undefined;
  /** Remaining blocks that an older version has interpreted. */
  readonly olderBlocks: number | undefined;
  /** At the pace of all processes of late; undefined while it is unknown. */
  readonly etaSeconds: number | undefined;
};

export type InterpreterProgress = {
  readonly written: (blocks: number, traces: number) => void;
  readonly left: (left: InterpretationsLeft) => void;
  readonly view: () => InterpreterProgressView;
};

/** @param now milliseconds, ascending */
export function createInterpreterProgress(now: () => number): InterpreterProgress {
  const startMs = now();
  const blocks = createRate(startMs);
  const traces = createRate(startMs);
  let last: InterpretationsLeft | undefined;
  /** Remaining blocks at moments of the last window, oldest first. */
  let history: { readonly atMs: number; readonly left: number }[] = [];
  return {
    written(blockCount, traceCount) {
      blocks.add(now(), blockCount);
      traces.add(now(), traceCount);
    },
    left(found) {
      last = found;
      const atMs = now();
      const recent = history.filter((one) => one.atMs > atMs - WINDOW_MS);
      history = [...recent, { atMs, left: found.todo + found.older }];
    },
    view: () => ({
      blocksPerSecond: blocks.perSecond(now()),
      tracesPerSecond: traces.perSecond(now()),
      remainingBlocks: last && last.todo + last.older,
      olderBlocks: last?.older,
      etaSeconds: last && etaSeconds(history),
    }),
  };
}

/** A part of a line: `actions 1,234 blocks behind (1,000 of an older version), 61.5 blocks/s, 2m to go`. */
export function formatInterpretation(view: InterpreterProgressView): string {
  const { remainingBlocks, olderBlocks, blocksPerSecond, etaSeconds: eta } = view;
  if (remainingBlocks === undefined) return 'actions not begun';
  if (remainingBlocks === 0) return 'actions up to date';
  const again = olderBlocks === undefined || olderBlocks === 0 ? '' : ` (${grouped(olderBlocks)} of an older version)`;
  const parts = [
    `actions ${grouped(remainingBlocks)} block${remainingBlocks === 1 ? '' : 's'} behind${again}`,
    `${blocksPerSecond.toFixed(1)} blocks/s`,
    ...(eta === undefined ? [] : [`${duration(eta)} to go`]),
  ];
  return parts.join(', ');
}
