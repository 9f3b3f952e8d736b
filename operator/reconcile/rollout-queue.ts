import type { Clock } from '../kubernetes/clock.ts';
import type { ObjectKey } from '../kubernetes/object.ts';

/** A turn, or the place in the line. */
type Turn =
  | { readonly granted: true }
  | { readonly granted: false; readonly position: number; readonly waiting: number };

/** Lets a few TonApis at a time take the templates of a new operator (operator/README.md#rollouts). An upgrade therefore does not restart all. */
export type RolloutQueue = {
  /** Asks for a turn, and keeps the place in the line until it comes. */
  ask(key: ObjectKey): Turn;
  /** The rollout is over, or none is wanted any more. */
  leave(key: ObjectKey): void;
  waiting(): number;
};

type RolloutQueueOptions = {
  readonly concurrencyMax: number;
  /** Between the end of one rollout and the start of the next. */
  readonly delayMs: number;
};

type RolloutQueueDependencies = {
  readonly clock: Clock;
  /** TonApis whose pods are being replaced, whoever granted the turn. An operator that starts during a rollout did not grant it. */
  readonly replacing: () => Iterable<ObjectKey>;
  /** It is the TonApi's turn to ask again. */
  readonly onTurn: (key: ObjectKey) => void;
};

export function createRolloutQueue(
  { concurrencyMax, delayMs }: RolloutQueueOptions,
  { clock, replacing, onTurn }: RolloutQueueDependencies,
): RolloutQueue {
  const rolling = new Set<ObjectKey>();
  const line = new Set<ObjectKey>();
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  let cancelCall: (() => void) | undefined;

  const isOpen = (): boolean => rolling.size < concurrencyMax && clock.now() >= notBeforeMs;

  function othersAtWork(key: ObjectKey): number {
    const others = new Set([...rolling, ...replacing()]);
    others.delete(key);
    return others.size;
  }

  /** Makes the first in the queue ask again, now or after the pause. */
  function callNext(): void {
    cancelCall?.();
    cancelCall = clock.after(Math.max(0, notBeforeMs - clock.now()), () => {
      const [first] = line;
      if (first !== undefined && isOpen()) onTurn(first);
    });
  }

  return {
    ask(key) {
      if (rolling.has(key)) return { granted: true };
      line.add(key);
      const position = [...line].indexOf(key) + 1;
      if (position > 1 || !isOpen() || othersAtWork(key) >= concurrencyMax) {
        return { granted: false, position, waiting: line.size };
      }
      line.delete(key);
      rolling.add(key);
      callNext();
      return { granted: true };
    },
    leave(key) {
      line.delete(key);
      if (rolling.delete(key)) notBeforeMs = clock.now() + delayMs;
      if (line.size > 0) callNext();
    },
    waiting: () => line.size,
  };
}
