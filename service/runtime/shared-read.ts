export type SharedReadOptions = {
  /** A read that takes longer is abandoned: its callers get undefined, and the next read begins. Milliseconds. */
  readonly timeoutMs: number;
};

/**
 * Shares reads among callers: each call gets the result of a read that began after the call. At most one read runs, and the calls during
 * that read share the next one. A failed read gives its callers undefined.
 */
export function createSharedRead<T>(
  { timeoutMs }: SharedReadOptions,
  read: () => Promise<T | undefined>,
): () => Promise<T | undefined> {
  let running: Promise<T | undefined> | undefined;
  let next: Promise<T | undefined> | undefined;

  const begin = (): Promise<T | undefined> => {
    next = undefined;
    const own = bounded(read, timeoutMs).finally(() => {
      if (running === own) running = undefined;
    });
    running = own;
    return own;
  };

  return () => {
    if (running === undefined) return begin();
    next ??= running.then(begin);
    return next;
  };
}

/** Never rejects. */
async function bounded<T>(read: () => Promise<T | undefined>, timeoutMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  try {
    return await Promise.race([read(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
