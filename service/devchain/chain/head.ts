/** Starts a timer; the returned function cancels it. */
export type StartTimer = (run: () => void, delayMs: number) => () => void;

/** Plain timer that does not prevent the end of the process. */
export const startTimer: StartTimer = (run, delayMs) => {
  const timer = setTimeout(run, delayMs).unref();
  return () => clearTimeout(timer);
};

/** The player of a recording: how far the chain has got. */
export type Head = {
  /** Newest masterchain seqno. */
  seqno(): number;
  /** Calls the listener after every move. The returned function ends that. */
  onMove(listener: (seqno: number) => void): () => void;
  /** Moves the head at once, for tests. Forward only, at most to the last recorded block. */
  moveTo(seqno: number): void;
  close(): void;
};

export type HeadOptions = {
  readonly firstSeqno: number;
  readonly lastSeqno: number;
  /** Seconds of one block; 0 plays all blocks at once. */
  readonly paceSeconds: number;
};

/** Starts to play. At the last block the head stands still. */
export function createHead(options: HeadOptions, dependencies: { readonly startTimer: StartTimer }): Head {
  const { lastSeqno, paceSeconds } = options;
  const listeners = new Set<(seqno: number) => void>();
  let seqno = paceSeconds === 0 ? lastSeqno : Math.min(options.firstSeqno, lastSeqno);
  let cancelTimer: (() => void) | undefined;
  let closed = false;

  function moveTo(next: number): void {
    if (next <= seqno || closed) return;
    seqno = Math.min(next, lastSeqno);
    for (const listener of listeners) listener(seqno);
  }

  function playOn(): void {
    if (closed || seqno >= lastSeqno) return;
    cancelTimer = dependencies.startTimer(() => {
      moveTo(seqno + 1);
      playOn();
    }, paceSeconds * 1000);
  }

  playOn();
  return {
    seqno: () => seqno,
    onMove(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    moveTo,
    close() {
      closed = true;
      cancelTimer?.();
      listeners.clear();
    },
  };
}
