import { addCount, dayText, refusedField, usageOf, type Counts, type UsageCounter } from '../usage.ts';
import type { Store } from './store.ts';

/** How long a pod gathers counts before they are added in Redis. */
const flushMs = 1000;

const dayMs = 86_400_000;

/** A month and a day: what a bill may be questioned on. */
const keptSeconds = 32 * 86_400;

/** Keys counted at once while Redis is away: about 100 MB at worst; what comes beyond is not counted. */
const keysMax = 100_000;

/** Usage of all pods together, kept in Redis for a month. */
export function createSharedUsage(api: string, store: Store): UsageCounter {
  let gathered = new Map<string, Counts>();

  let day = '';
  let dayEndMs = 0;

  /** Making the text of a day costs as much as the rest of a decision: it is kept. */
  const dayAt = (unixMs: number): string => {
    if (unixMs >= dayEndMs || unixMs < dayEndMs - dayMs) {
      day = dayText(unixMs);
      dayEndMs = Date.parse(day) + dayMs;
    }
    return day;
  };

  const nameOf = (keyId: string, unixMs: number): string => `usage:${api}:{${keyId}}:${dayAt(unixMs)}`;

  const gather = (name: string, field: string, by: number): void => {
    let counts = gathered.get(name);
    if (counts === undefined) {
      if (gathered.size >= keysMax) return;
      gathered.set(name, (counts = new Map()));
    }
    addCount(counts, field, by);
  };

  const flush = async (): Promise<void> => {
    if (gathered.size === 0 || !store.here) return;
    const sent = gathered;
    gathered = new Map();
    try {
      for (const [name, counts] of sent) {
        const commands = [...counts].map(([field, by]) => ['hincrby', name, field, by]);
        await store.pipeline([...commands, ['expire', name, keptSeconds]]);
        sent.delete(name);
      }
    } catch {
      // Those not surely counted are counted again with the next flush: one too many rather than one too few.
      for (const [name, counts] of sent) for (const [field, by] of counts) gather(name, field, by);
    }
  };

  const timer = setInterval(() => void flush(), flushMs);
  timer.unref();

  return {
    count(keyId, operation, unixMs) {
      gather(nameOf(keyId, unixMs), operation ?? refusedField, 1);
    },
    async read(keyId, unixMs) {
      const name = nameOf(keyId, unixMs);
      const read = dayAt(unixMs);
      const counts: Counts = new Map(gathered.get(name));
      const [kept] = await store.pipeline([['hgetall', name]]).catch(() => [{}]);
      for (const [field, value] of Object.entries(kept as Record<string, string>))
        addCount(counts, field, Number(value));
      return usageOf(read, counts);
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
