import type { LiveAnswer } from '#service/live/answer.ts';
import { readExternalMessage, type ExternalMessage } from '#service/live/external-message.ts';
import type { LiveSend } from '#service/live/send.ts';

/** Takes every message that passes the checks of the service itself, or refuses all with an error; remembers what it took. */
export function scriptSend(refusal?: Error): LiveSend & { readonly sent: ExternalMessage[] } {
  const sent: ExternalMessage[] = [];
  return {
    sent,
    async send(boc, context): Promise<LiveAnswer<ExternalMessage>> {
      const message = readExternalMessage(boc);
      context.noteAsked?.(new Set([3, 0, 7]));
      if (refusal !== undefined) throw refusal;
      sent.push(message);
      return { value: message, liteServers: [3, 0, 7], cached: false };
    },
  };
}
