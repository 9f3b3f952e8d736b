import { setImmediate } from 'node:timers/promises';

/** Items shown without a pause: some 100 us each, so that no other request waits for more than a few milliseconds. */
const ITEMS_AT_ONCE = 32;

/** Shows the items of a long list one by one and lets other requests run in between. */
export async function mapPaced<A, B>(items: readonly A[], view: (item: A) => B): Promise<B[]> {
  const shown: B[] = [];
  for (const [at, item] of items.entries()) {
    if (at % ITEMS_AT_ONCE === ITEMS_AT_ONCE - 1) await setImmediate();
    shown.push(view(item));
  }
  return shown;
}
