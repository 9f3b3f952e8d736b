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

/** Lists that are shorter are written at once. */
const LIST_AT_ONCE = 8;

/** The JSON of an object whose lists may be long, as `JSON.stringify` writes it: item by item, with other requests in between. */
export async function writePaced(value: unknown): Promise<string> {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pacer = createPacer();
  if (Array.isArray(value)) return writeList(value, pacer);
  const fields: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const text = Array.isArray(field) ? await writeList(field, pacer) : JSON.stringify(field);
    fields.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${fields.join(',')}}`;
}

async function writeList(items: readonly unknown[], pacer: Pacer): Promise<string> {
  if (items.length < LIST_AT_ONCE) return JSON.stringify(items);
  return `[${(await mapPaced(items, (item) => JSON.stringify(item) ?? 'null', pacer)).join(',')}]`;
}
