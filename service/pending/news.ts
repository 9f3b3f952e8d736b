import type { Logger } from 'pino';

import type { PendingTrace } from './pending-trace.ts';
import type { SharedNews } from './shared-news.ts';
import type { Sharing } from './sharing.ts';

/** A pending trace that has appeared or changed, or one that is no longer pending. */
export type PendingNews =
  | { readonly kind: 'trace'; readonly trace: PendingTrace }
  | Extract<SharedNews, { readonly kind: 'gone' }>;

export type PendingListener = (news: PendingNews) => void;

/** News of pending traces, for those who listen: of this process at once, of other pods in intervals. */
export type News = {
  /** Calls the listener with all news from now on. Returns a function that ends it. */
  readonly listen: (listener: PendingListener) => () => void;
  /** Reports to the listeners of this process, and to the other pods. */
  readonly report: (news: PendingNews) => Promise<void>;
  /** Reads the news of other pods, if someone listens. Never rejects. */
  readonly hear: () => Promise<void>;
  readonly close: () => void;
};

export type NewsDependencies = {
  readonly sharing: Pick<Sharing, 'report' | 'hear' | 'get'>;
  readonly logger: Logger;
};

/** @param options.everyMs interval of hearing other pods; 0: only when `hear` is called */
export function createNews({ everyMs }: { readonly everyMs: number }, { sharing, logger }: NewsDependencies): News {
  const listeners = new Set<PendingListener>();
  let hearing: Promise<void> | undefined;
  let ticker: NodeJS.Timeout | undefined;

  function spread(news: PendingNews): void {
    for (const listener of listeners) listener(news);
  }

  async function hearAll(): Promise<void> {
    try {
      for (const news of await sharing.hear()) {
        if (news.kind === 'gone') {
          spread(news);
          continue;
        }
        const trace = await sharing.get(news.key);
        if (trace !== undefined) spread({ kind: 'trace', trace });
      }
    } catch (error) {
      logger.warn({ err: error }, 'the news of other pods were not read');
    }
  }

  async function hear(): Promise<void> {
    if (listeners.size === 0) return;
    hearing ??= hearAll().finally(() => (hearing = undefined));
    await hearing;
  }

  return {
    listen(listener) {
      listeners.add(listener);
      if (everyMs > 0) ticker ??= setInterval(() => void hear(), everyMs).unref();
      return () => void listeners.delete(listener);
    },
    async report(news) {
      spread(news);
      await sharing.report(news.kind === 'gone' ? news : { kind: 'trace', key: news.trace.key.toString('hex') });
    },
    hear,
    close: () => clearInterval(ticker),
  };
}
