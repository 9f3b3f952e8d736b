import { readExternalMessage } from '../live/send/external-message.ts';
import { TRACE_FORM, type PendingTrace } from './pending-trace.ts';
import type { TypedKeys } from './typed-keys.ts';

/** A message as it was sent, and when. */
export type SentMessage = Pick<PendingTrace, 'message' | 'sentUnixMs' | 'sinceUtime'>;

/** Messages that pods watch, in Redis from the moment of sending. If a pod ends before the simulation, another pod can simulate the message. */
export type SharedMessages = {
  /** @param key as of the trace that it leads to */
  put(key: string, sent: SentMessage): Promise<void>;
  get(key: string): Promise<SentMessage | undefined>;
  drop(key: string): Promise<void>;
};

export type SharedMessagesOptions = {
  /** Scope of the Redis keys, the same as for shared traces. */
  readonly scope: string;
  /** Lifetime of a message, milliseconds. */
  readonly keptMs: number;
};

export function createSharedMessages({ scope, keptMs }: SharedMessagesOptions, keys: TypedKeys): SharedMessages {
  const messageKey = (key: string): string => `ton:pending:${TRACE_FORM}:${scope}:message:${key}`;
  return {
    async put(key, { message, sentUnixMs, sinceUtime }) {
      const text = `${sentUnixMs} ${sinceUtime} ${message.toString('base64')}`;
      await keys.ask(messageKey(key), (client) => client.set(messageKey(key), text, 'PX', keptMs));
    },
    async get(key) {
      const text = await keys.ask(messageKey(key), (client) => client.get(messageKey(key)));
      if (text === undefined || text === null) return undefined;
      return readSent(text) ?? keys.malformed();
    },
    async drop(key) {
      await keys.ask(messageKey(key), (client) => client.del(messageKey(key)));
    },
  };
}

/** Undefined for a text that no pod writes. */
function readSent(text: string): SentMessage | undefined {
  const [, sentUnixMs, sinceUtime, base64 = ''] = /^(\d{1,15}) (\d{1,10}) ([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  try {
    const message = readExternalMessage(Buffer.from(base64, 'base64')).boc;
    return { message, sentUnixMs: Number(sentUnixMs), sinceUtime: Number(sinceUtime) };
  } catch {
    return undefined;
  }
}
