import { TRACE_FORM, type PendingTrace } from './pending-trace.ts';
import type { PendingLink } from './shared-traces.ts';

/** A message as it was sent, and when. */
export type SentMessage = Pick<PendingTrace, 'message' | 'sentUnixMs' | 'sinceUtime'>;

/** Messages that pods watch, in Redis from the moment they are sent: another pod can run one that its own ends before it has foreseen anything of. */
export type SharedMessages = {
  /** @param key as of the trace that it leads to */
  put(key: string, sent: SentMessage): Promise<void>;
  get(key: string): Promise<SentMessage | undefined>;
  drop(key: string): Promise<void>;
};

/** As of shared traces: nothing waits for a Redis that is not well. */
const ANSWER_MS = 200;

export type SharedMessagesOptions = {
  /** As of shared traces. */
  readonly scope: string;
  /** A message is gone after this long. */
  readonly keptMs: number;
};

export function createSharedMessages({ scope, keptMs }: SharedMessagesOptions, link: PendingLink): SharedMessages {
  const messageKey = (key: string): string => `ton:pending:${TRACE_FORM}:${scope}:message:${key}`;
  return {
    async put(key, { message, sentUnixMs, sinceUtime }) {
      const text = `${sentUnixMs} ${sinceUtime} ${message.toString('base64')}`;
      await link.ask((client) => client.set(messageKey(key), text, 'PX', keptMs), ANSWER_MS);
    },
    async get(key) {
      const text = await link.ask((client) => client.get(messageKey(key)), ANSWER_MS);
      if (text === undefined || text === null) return undefined;
      const [sentUnixMs, sinceUtime, message = ''] = text.split(' ');
      return {
        message: Buffer.from(message, 'base64'),
        sentUnixMs: Number(sentUnixMs),
        sinceUtime: Number(sinceUtime),
      };
    },
    async drop(key) {
      await link.ask((client) => client.del(messageKey(key)), ANSWER_MS);
    },
  };
}
