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
  /** The new template of a TonApi with a turn is written. */
  begin(key: ObjectKey): void;
  /** True from the beginning of a rollout until the TonApi leaves. */
  hasBegun(key: ObjectKey): boolean;
  /** The rollout is over, none is wanted any more, or the new template could not be written. */
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
  /** The TonApi is to ask again: it is its turn, or its place in the line changed. */
  readonly onTurn: (key: ObjectKey) => void;
};

/** TonApis that hear of a changed place at once. The others see it at their next reconcile, so that a long line costs little. */
const CALLED_MAX = 10;

export function createRolloutQueue(
  { concurrencyMax, delayMs }: RolloutQueueOptions,
  { clock, replacing, onTurn }: RolloutQueueDependencies,
): RolloutQueue {
  /** TonApis with a turn, and whether their rollout has begun. */
  const rolling = new Map<ObjectKey, { readonly hasBegun: boolean }>();
  const line = new Set<ObjectKey>();
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  let cancelCall: (() => void) | undefined;

  const isOpen = (): boolean => rolling.size < concurrencyMax && clock.now() >= notBeforeMs;

  function othersAtWork(key: ObjectKey): number {
    const others = new Set([...rolling.keys(), ...replacing()]);
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

  /** Takes a TonApi out of the line. Those behind it have another place then. */
  function quitLine(key: ObjectKey): void {
    const behind = [...line].slice([...line].indexOf(key) + 1);
    if (!line.delete(key)) return;
    for (const other of behind.slice(0, CALLED_MAX)) onTurn(other);
  }

  return {
    ask(key) {
      if (rolling.has(key)) return { granted: true };
      line.add(key);
      const position = [...line].indexOf(key) + 1;
      if (position > 1 || !isOpen() || othersAtWork(key) >= concurrencyMax) {
        return { granted: false, position, waiting: line.size };
      }
      quitLine(key);
      rolling.set(key, { hasBegun: false });
      callNext();
      return { granted: true };
    },
    begin(key) {
      if (rolling.has(key)) rolling.set(key, { hasBegun: true });
    },
    hasBegun: (key) => rolling.get(key)?.hasBegun === true,
    leave(key) {
      quitLine(key);
      // No pods were replaced in a turn that was not used, so the next needs no pause.
      if (rolling.get(key)?.hasBegun === true) notBeforeMs = clock.now() + delayMs;
      rolling.delete(key);
      if (line.size > 0) callNext();
    },
    waiting: () => line.size,
  };
}
