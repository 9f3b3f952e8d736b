import { useCallback, useEffect, useState } from 'preact/hooks';

import { ApiError } from './api.ts';

/** State of a load. A failed load that may pass has `retryAtMs`, at which it begins again by itself. */
export type Load<T> = {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  readonly retryAtMs: number | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
};

/** First wait after a failure that may pass; each further failure doubles the wait. */
const RETRY_FIRST_MS = 1000;
const RETRY_MAX_MS = 30_000;

/** No answer, too many requests, and overload pass by themselves. */
const passes = (status: number): boolean => status === 0 || status === 429 || status >= 500;

/**
 * Loads a value when `key` changes, and when `reload` is called. The last value stays during a reload with the same key.
 * @param load rejects with an `ApiError`; the signal aborts when the key changes or the part leaves the page
 */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Load<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ key: string } & Omit<Load<T>, 'reload'>>(() => empty(key));
  const reload = useCallback(() => setTurn((last) => last + 1), []);

  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waitMs = RETRY_FIRST_MS;
    const run = async (): Promise<void> => {
      setState((last) => (last.key === key ? { ...last, isLoading: true } : empty(key)));
      try {
        const value = await load(controller.signal);
        if (!controller.signal.aborted) {
          setState({ key, value, error: undefined, retryAtMs: undefined, isLoading: false });
        }
      } catch (error) {
        if (controller.signal.aborted) return;
        const failure = error instanceof ApiError ? error : new ApiError(-1, String(error));
        const pause = passes(failure.status) ? Math.max(waitMs, failure.retryAfterMs ?? 0) : undefined;
        waitMs = Math.min(waitMs * 2, RETRY_MAX_MS);
        setState((last) => ({
          key,
          value: last.key === key ? last.value : undefined,
          error: failure,
          retryAtMs: pause === undefined ? undefined : Date.now() + pause,
          isLoading: false,
        }));
        if (pause !== undefined) timer = setTimeout(() => void run(), pause);
      }
    };
    void run();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
    // `load` is a new function at each draw. The key names what it loads.
  }, [key, turn]);

  const current = state.key === key ? state : empty<T>(key);
  return { ...current, reload };
}

function empty<T>(key: string): { key: string } & Omit<Load<T>, 'reload'> {
  return { key, value: undefined, error: undefined, retryAtMs: undefined, isLoading: true };
}
