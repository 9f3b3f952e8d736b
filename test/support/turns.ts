import { setImmediate as turn } from 'node:timers/promises';

/** Counts the turns of the event loop that a work leaves to others. The work waits for nothing else. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  const state = { turns: 0, isOver: false };
  const counting = (async () => {
    for (; !state.isOver; state.turns++) await turn();
  })();
  await work();
  state.isOver = true;
  await counting;
  return state.turns;
}
