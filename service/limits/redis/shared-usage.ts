import type { RedisMetrics } from '../metrics.ts';
import { addCount, dayText, refusedField, usageOf, type Counts, type UsageCounter } from '../usage.ts';
import { earlierScope } from './earlier-scope.ts';
import { scriptOf } from './script-batcher.ts';
import { countScript, USAGE_MAX } from './script.ts';
import type { RedisSession } from './redis-session.ts';

/** Milliseconds in which a pod gathers counts before Redis adds them. A killed pod loses the counts of that time. */
const FLUSH_MS = 3000;

const DAY_MS = 86_400_000;

/** Seconds until usage expires: a month and a day, in which a bill may be questioned. */
const KEPT_SECONDS = 32 * 86_400;

/** Most keys counted at once while Redis is unavailable: about 100 MB at worst. Further counts are dropped. */
const KEYS_MAX = 100_000;

/** Most keys whose counts are in flight to Redis. */
const FLUSHES_AT_ONCE = 100;

/** Counts of one key on one day, with a sequence number. Redis adds a numbered flush once. */
type Flush = { readonly name: string; readonly argument: string };

/** Usage of all pods together, stored in Redis for a month. */
export function createSharedUsage(
  { api, pod }: { readonly api: string; readonly pod: string },
  store: RedisSession,
  metrics: Pick<RedisMetrics, 'malformed'>,
): UsageCounter {
  const questions = store.questions({ script: scriptOf(countScript), common: [pod, KEPT_SECONDS], answerLength: 1 });
  const ask = async (name: string, argument: string): Promise<void> => {
    const [wrong] = await questions.ask(name, argument);
    if (wrong === 1) metrics.malformed('usage');
  };
  /** Counts by day, then by key. */
  let gathered = new Map<string, Map<string, Counts>>();
  let today = new Map<string, Counts>();
  let keys = 0;
  /** Flushes that were sent, and perhaps not counted. They are sent again unchanged. */
  let outgoing: Flush[] = [];
  let flushNumber = 0;
  let flushing: Promise<void> | undefined;
  let day = '';
  let dayEndMs = 0;

  /** The text of the day is cached, because making it costs as much as the rest of a decision. */
  const dayAt = (unixMs: number): string => {
    if (unixMs >= dayEndMs || unixMs < dayEndMs - DAY_MS) {
      day = dayText(unixMs);
      dayEndMs = Date.parse(day) + DAY_MS;
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
      const part = outgoing.slice(0, FLUSHES_AT_ONCE);
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
  }, FLUSH_MS);
  timer.unref();

  return {
    count(keyId, operation, unixMs) {
      dayAt(unixMs);
      let counts = today.get(keyId);
      if (counts === undefined) {
        if (keys >= KEYS_MAX) return;
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
        if (/^\d{1,13}$/.test(value) && Number(value) <= USAGE_MAX) addCount(counts, field, Number(value));
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
