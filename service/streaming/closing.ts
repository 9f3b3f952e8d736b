/** Why the service ends a connection: a close code and its reason (service/streaming/README.md#closing). */
export type Closing = { readonly code: number; readonly reason: string };

/** Closings that the service decides. */
export const closings = {
  goingAway: { code: 1001, reason: 'going away' },
  binary: { code: 1003, reason: 'text messages only' },
  connectionLimit: { code: 1008, reason: 'connection limit' },
  keyEnded: { code: 1008, reason: 'API key does not exist' },
  messageRate: { code: 1008, reason: 'message rate' },
  tooManyErrors: { code: 1008, reason: 'too many errors' },
  noSubscription: { code: 1008, reason: 'no subscription' },
  internal: { code: 1011, reason: 'internal error' },
  slowConsumer: { code: 1013, reason: 'slow consumer' },
  superseded: { code: 4001, reason: 'superseded' },
} as const satisfies Record<string, Closing>;
