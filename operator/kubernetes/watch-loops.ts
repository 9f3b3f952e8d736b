import type { Clock } from './clock.ts';

/** Refusals in a row after which a namespace counts as forbidden. Replacing a token causes fewer. */
const REFUSALS_MAX = 3;

/** State of one list-watch loop. */
export type WatchLoop = {
  /** Undefined for all namespaces in one go. */
  readonly namespace: string | undefined;
  aliveAtMs: number;
  /** Refusals in a row. */
  refusals: number;
  isListed: boolean;
  /** It was forbidden once. */
  wasForbidden: boolean;
};

/** The loops of one kind, one for each namespace. A namespace that stays refused does not hold back the others. */
export type WatchLoops = {
  readonly all: readonly WatchLoop[];
  /** Resolves once every namespace is listed or forbidden, and at least one is listed. */
  readonly synced: Promise<void>;
  readonly hasSynced: () => boolean;
  /** All objects of the loop's namespace are in the cache. */
  listed(loop: WatchLoop): void;
  /** Counts a refusal. Returns true when the namespace counts as forbidden from now on. */
  refused(loop: WatchLoop): boolean;
  /** True while every namespace is forbidden. */
  readonly forbidden: () => boolean;
  /** True while the namespace is forbidden and others are not. */
  isLeftOut(loop: WatchLoop): boolean;
  /** True for a namespace that was forbidden and is not listed since the start; without a name, for any. An error between does not make it known. */
  readonly isUnknown: (namespace?: string) => boolean;
  /** Namespaces, with true for a forbidden one. The name '' is all namespaces. */
  readonly forbiddenNamespaces: () => ReadonlyMap<string, boolean>;
  /** Since the last event of the loop that is silent longest. Forbidden namespaces have an alarm of their own. */
  readonly ageSeconds: () => number;
};

export function createWatchLoops(namespaces: readonly string[] | undefined, { now }: Pick<Clock, 'now'>): WatchLoops {
  const all: readonly WatchLoop[] = (namespaces ?? [undefined]).map((namespace) => ({
    namespace,
    aliveAtMs: now(),
    refusals: 0,
    isListed: false,
    wasForbidden: false,
  }));
  let isSynced = false;
  const synced = Promise.withResolvers<void>();
  const forbidden = (): boolean => all.every(isForbidden);

  function settle(): void {
    if (!all.some(({ isListed }) => isListed) || !all.every((loop) => loop.isListed || isForbidden(loop))) return;
    isSynced = true;
    synced.resolve();
  }

  return {
    all,
    synced: synced.promise,
    hasSynced: () => isSynced,
    listed(loop) {
      loop.isListed = true;
      settle();
    },
    refused(loop) {
      loop.refusals += 1;
      if (loop.refusals !== REFUSALS_MAX) return false;
      loop.wasForbidden = true;
      settle();
      return true;
    },
    forbidden,
    isLeftOut: (loop) => isForbidden(loop) && !forbidden(),
    isUnknown: (namespace) =>
      all.some((loop) => (namespace ?? loop.namespace) === loop.namespace && loop.wasForbidden && !loop.isListed),
    forbiddenNamespaces: () => new Map(all.map((loop) => [loop.namespace ?? '', isForbidden(loop)])),
    ageSeconds() {
      const alive = forbidden() ? all : all.filter((loop) => !isForbidden(loop));
      return (now() - Math.min(...alive.map(({ aliveAtMs }) => aliveAtMs))) / 1000;
    },
  };
}

function isForbidden({ refusals }: WatchLoop): boolean {
  return refusals >= REFUSALS_MAX;
}
