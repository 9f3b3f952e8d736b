import type { Head } from './head.ts';

/** The head of a chain that makes its own blocks. */
export type LiveHead = Head & {
  /** Notifies all listeners that the chain has grown. */
  moved(): void;
};

/** @param seqno newest masterchain seqno */
export function createLiveHead(seqno: () => number): LiveHead {
  const listeners = new Set<(seqno: number) => void>();
  const moved = (): void => {
    for (const listener of listeners) listener(seqno());
  };
  return {
    seqno,
    onMove(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    moved,
    // Nothing is there above the newest block.
    moveTo: () => {},
    close: () => listeners.clear(),
  };
}
