import type { ObjectKey } from '../kubernetes/object.ts';

/** Pauses of keys that wait for an event and look by themselves too. Each pause of a key is twice the one before. */
type GrowingPauses = {
  /** Next pause of the key while it waits for `reason`. Another reason begins with the first. Undefined ends the wait. */
  next(key: ObjectKey, reason: string | undefined): number | undefined;
};

export function createGrowingPauses({
  firstMs,
  maxMs,
}: {
  readonly firstMs: number;
  readonly maxMs: number;
}): GrowingPauses {
  const waits = new Map<ObjectKey, { readonly reason: string; readonly pauseMs: number }>();
  return {
    next(key, reason) {
      if (reason === undefined) {
        waits.delete(key);
        return undefined;
      }
      const before = waits.get(key);
      const pauseMs = before?.reason === reason ? Math.min(before.pauseMs * 2, maxMs) : firstMs;
      waits.set(key, { reason, pauseMs });
      return pauseMs;
    },
  };
}
