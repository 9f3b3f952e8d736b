import { setImmediate } from 'node:timers/promises';

/** Work that goes on without a pause: no other request waits for more than this and one item. */
const TURN_MS = 4;

/** Lets other requests run between the parts of long work. */
export type Pacer = {
  /** To be awaited between two parts: undefined while the turn is not over. */
  pause(): Promise<void> | undefined;
};

/** @param nowMs a clock that only measures turns */
export function createPacer(nowMs: () => number = () => performance.now()): Pacer {
  let endMs = nowMs() + TURN_MS;
  const rest = async (): Promise<void> => {
    await setImmediate();
    endMs = nowMs() + TURN_MS;
  };
  return { pause: () => (nowMs() < endMs ? undefined : rest()) };
}

/** Shows the items of a long list one by one and lets other requests run in between. */
export async function mapPaced<A, B>(
  items: readonly A[],
  view: (item: A) => B,
  pacer: Pacer = createPacer(),
): Promise<B[]> {
  const shown: B[] = [];
  for (const item of items) {
    await pacer.pause();
    shown.push(view(item));
  }
  return shown;
}
