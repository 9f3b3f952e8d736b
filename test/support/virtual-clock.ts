import type { Clock } from '#operator/kubernetes/clock.ts';

/** A clock that moves only when it is told to. */
export type VirtualClock = Clock & {
  /** Moves on, ringing every alarm in order; between two alarms everything that waits for them gets its turn. */
  advance(ms: number): Promise<void>;
  /** Moves on without ringing: the process was frozen. The alarms ring at the next `advance`. */
  freeze(ms: number): void;
};

/** 2026-11-21T00:00:00Z. */
const startUnixMs = Date.UTC(2026, 10, 21);

/** Turns of the event loop that suffice for any chain of promises and loopback-free work of one alarm. */
const turns = 5;

async function settle(): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function createVirtualClock(): VirtualClock {
  let nowMs = 0;
  let alarms: { atMs: number; call: () => void }[] = [];

  return {
    now: () => nowMs,
    unixMs: () => startUnixMs + nowMs,
    after(delayMs, call) {
      const alarm = { atMs: nowMs + Math.max(0, delayMs), call };
      alarms.push(alarm);
      return () => {
        alarms = alarms.filter((other) => other !== alarm);
      };
    },
    freeze(ms) {
      nowMs += ms;
    },
    async advance(ms) {
      const endMs = nowMs + ms;
      await settle();
      for (;;) {
        const next = alarms.toSorted((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined || next.atMs > endMs) break;
        alarms = alarms.filter((other) => other !== next);
        nowMs = Math.max(nowMs, next.atMs);
        next.call();
        await settle();
      }
      nowMs = endMs;
      await settle();
    },
  };
}
