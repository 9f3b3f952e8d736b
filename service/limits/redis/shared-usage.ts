import type { RedisMetrics } from '../metrics.ts';
import { addCount, dayText, refusedField, usageOf, type Counts, type UsageCounter } from '../usage.ts';
import { earlierScope } from './earlier-scope.ts';
import { scriptOf } from './questions.ts';
import { countScript, usageMax } from './script.ts';
import type { Store } from './store.ts';

/** How long a pod gathers counts before they are added in Redis; so much of them a killed pod loses. */
const flushMs = 3000;

const dayMs = 86_400_000;

/** A month and a day: what a bill may be questioned on. */
const keptSeconds = 32 * 86_400;

/** Keys counted at once while Redis is away: about 100 MB at worst; what comes beyond is not counted. */
const keysMax = 100_000;

/** Keys whose counts are under way to Redis at once. */
const flushesAtOnce = 100;

/** Counts of one key on one day, with the number under which they are sent: Redis adds what has a number once. */
type Flush = { readonly name: string; readonly argument: string };

/** Usage of all pods together, kept in Redis for a month. */
export function createSharedUsage(
  { api, pod }: { readonly api: string; readonly pod: string },
  store: Store,
  metrics: Pick<RedisMetrics, 'malformed'>,
): UsageCounter {
  const questions = store.questions({ script: scriptOf(countScript), common: [pod, keptSeconds], answerLength: 1 });
  const ask = async (name: string, argument: string): Promise<void> => {
    const [wrong] = await questions.ask(name, argument);
    if (wrong === 1) metrics.malformed('usage');
  };
  /** By day, then by key. */
  let gathered = new Map<string, Map<string, Counts>>();
  let today = new Map<string, Counts>();
  let keys = 0;
  /** Sent, and perhaps not counted: sent again as they were. */
  let outgoing: Flush[] = [];
  let flushNumber = 0;
  let flushing: Promise<void> | undefined;
  let day = '';
  let dayEndMs = 0;

  /** Making the text of a day costs as much as the rest of a decision: it is kept. */
  const dayAt = (unixMs: number): string => {
    if (unixMs >= dayEndMs || unixMs < dayEndMs - dayMs) {
      day = dayText(unixMs);
      dayEndMs = Date.parse(day) + dayMs;
      today = gathered.get(day) ?? new Map<string, Counts>();
      gathered.set(day, today);
    }
    return day;
  };

  const nameOf = (keyId: string, onDay: string, scope = api): string => `usage:${scope}:{${keyId}}:${onDay}`;
  const earlier = earlierScope(api);

  const pack = (): void => {
    const number = ++flushNumber;
    for (const [onDay, byKey] of gathered) {
      for (const [keyId, counts] of byKey) {
        const argument = [number, ...[...counts].flat()].join('\t');
        outgoing.push({ name: nameOf(keyId, onDay), argument });
      }
    }
    today = new Map();
    gathered = new Map([[day, today]]);
    keys = 0;
  };

  const flush = async (): Promise<void> => {
    if (outgoing.length === 0) pack();
    while (outgoing.length > 0 && store.here) {
      const part = outgoing.slice(0, flushesAtOnce);
      const sent = await Promise.allSettled(part.map(({ name, argument }) => ask(name, argument)));
      const failed = part.filter((_flush, index) => sent[index]?.status === 'rejected');
      outgoing = [...failed, ...outgoing.slice(part.length)];
      if (failed.length > 0) return;
    }
  };

  const flushOnce = (): Promise<void> => {
    flushing ??= flush().finally(() => (flushing = undefined));
    return flushing;
  };

  const timer = setInterval(() => {
    if (store.here) void flushOnce();
  }, flushMs);
  timer.unref();

  return {
    count(keyId, operation, unixMs) {
      dayAt(unixMs);
      let counts = today.get(keyId);
      if (counts === undefined) {
        if (keys >= keysMax) return;
        keys++;
        today.set(keyId, (counts = new Map()));
      }
      addCount(counts, operation ?? refusedField, 1);
    },
    async read(keyId, unixMs) {
      const onDay = dayAt(unixMs);
      const counts: Counts = new Map(today.get(keyId));
      const names = [nameOf(keyId, onDay), ...(earlier === undefined ? [] : [nameOf(keyId, onDay, earlier)])];
      const found = await Promise.all(names.map((name) => store.fields(name).catch(() => ({}))));
      for (const [field, value] of found.flatMap((fields) => Object.entries<string>(fields))) {
        if (field.startsWith('!flush:')) continue;
        if (/^\d{1,13}$/.test(value) && Number(value) <= usageMax) addCount(counts, field, Number(value));
        else metrics.malformed('usage');
      }
      return usageOf(onDay, counts);
    },
    async close() {
      clearInterval(timer);
      await flushOnce();
      if (store.here) await flushOnce();
    },
  };
}
