import type { LiveAnswer } from '#service/contract/answer.ts';
import { readExternalMessage, type ExternalMessage } from '#service/live/send/external-message.ts';
import type { ExternalQuery, LegacySend } from '#service/live/send/legacy-send.ts';
import type { LiveSend } from '#service/live/send/send.ts';

/** Takes every message that passes the checks of the service itself, or refuses all with an error; remembers what it took. */
export function scriptSend(refusal?: Error): LiveSend & { readonly sent: ExternalMessage[] } {
  const sent: ExternalMessage[] = [];
  return {
    sent,
    async send(boc, context): Promise<LiveAnswer<ExternalMessage>> {
      const message = readExternalMessage(boc);
      context.observe?.({ kind: 'asked', liteServers: new Set([3, 0, 7]) });
      if (refusal !== undefined) throw refusal;
      sent.push(message);
      return { value: message, liteServers: [3, 0, 7], cached: false };
    },
  };
}

/** Takes every query and every message; remembers them. */
export function scriptLegacySend(): LegacySend & {
  readonly queries: ExternalQuery[];
  readonly repeated: ExternalMessage[];
} {
  const queries: ExternalQuery[] = [];
  const repeated: ExternalMessage[] = [];
  const boc = Buffer.alloc(0);
  return {
    queries,
    repeated,
    async sendQuery(query) {
      queries.push(query);
      const value = { boc, hash: Buffer.alloc(32), normalizedHash: Buffer.alloc(32) };
      return { value, liteServers: [3, 0, 7], cached: false };
    },
    sendRepeatedly(message) {
      const value = readExternalMessage(message);
      repeated.push(value);
      return { value, liteServers: [], cached: false };
    },
  };
}
