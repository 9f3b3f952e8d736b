/** Bytes at a time, and the pause between them. */
export type Trickle = { readonly bytes: number; readonly everyMs: number };

/** Half of the delays are below the median; a `sigma` of 1 makes one in six 2.7 times as long, one in forty 7 times. */
export type LognormalDelay = { readonly medianMs: number; readonly sigma: number };

/**
 * What the transport does wrong on purpose; absent = nothing. Read at the moment it matters, so a change acts on open
 * connections too. Faults of what is answered (wrong proofs, errors, stale heads) belong to the query layer.
 */
export type AdnlFaults = {
  /** Stops listening: new clients get ECONNREFUSED. Open connections stay; see `AdnlServer.resetConnections`. */
  readonly refuse?: boolean;
  /** Accepts, takes everything, sends nothing: `handshake` not even the first frame, `answers` no answers and no pongs. */
  readonly silent?: 'handshake' | 'answers';
  /** Answers come this much later, in milliseconds: always the same, or as a busy machine does, most of them early and some very late. */
  readonly delayMs?: number | LognormalDelay;
  /** Every frame after the first carries a wrong hash. */
  readonly badFrameHash?: boolean;
  /** Every frame after the first is cut in half, then the connection is reset. */
  readonly halfFrame?: boolean;
  /** Every frame after the first announces this length instead of its own. */
  readonly frameLength?: number;
  /** Random bytes come instead of every frame after the first. */
  readonly garbage?: boolean;
  /** Closes a connection after so many milliseconds without a received byte (instead of 60 s). */
  readonly closeAfterIdleMs?: number;
  /** Closes a connection after so many frames were sent on it, the first empty one included. */
  readonly closeAfterFrames?: number;
  /** Reads from clients no faster than this. */
  readonly slowRead?: Trickle;
  /** Writes to clients no faster than this. */
  readonly slowWrite?: Trickle;
};
