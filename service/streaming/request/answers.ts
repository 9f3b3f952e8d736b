import type { Begun } from '../changes.ts';

/** Text of the answer to a subscription. It comes before every event. */
export function subscribedAnswer(id: string | undefined, { cursor, resumed, gap }: Begun): string {
  return answerOf(id, { status: 'subscribed', cursor, resumed: resumed ?? 'none', ...(gap !== null && { gap }) });
}

export function unsubscribedAnswer(id: string | undefined): string {
  return answerOf(id, { status: 'unsubscribed' });
}

export function pongAnswer(id: string | undefined, cursor: string): string {
  return answerOf(id, { status: 'pong', cursor });
}

/** Text of a refusal. An event has a `type`, and this has none. */
export function errorAnswer(id: string | undefined, error: string): string {
  return answerOf(id, { error });
}

function answerOf(id: string | undefined, fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...(id !== undefined && { id }), ...fields });
}
