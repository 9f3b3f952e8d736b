/** Bytes at a time, and the pause between them. */
export type Trickle = { readonly bytes: number; readonly everyMs: number };

/** Half of the delays are below the median. A `sigma` of 1 makes every sixth delay 2.7 times as long, every fortieth 7 times. */
export type LognormalDelay = { readonly medianMs: number; readonly sigma: number };

/**
 * Injected faults of the transport; absent = none. They are read at the moment of use, so a change affects open connections too. Faults of
 * answers (wrong proofs, errors, stale heads) belong to the query layer.
 */
export type AdnlFaults = {
  /** Stops listening: new clients get ECONNREFUSED. Open connections stay, see `AdnlServer.resetConnections`. */
  readonly refuse?: boolean;
  /** Accepts connections, takes all bytes, sends nothing. `handshake`: not even the first frame. `answers`: no answers and no pongs. */
  readonly silent?: 'handshake' | 'answers';
  /** Delay of answers in milliseconds. Either constant, or as on a busy machine: mostly short and sometimes very long. */
  readonly delayMs?: number | LognormalDelay;
  /** Every frame after the first carries a wrong hash. */
  readonly badFrameHash?: boolean;
  /** Every frame after the first is cut in half, then the connection is reset. */
  readonly halfFrame?: boolean;
  /** Every frame after the first announces this length instead of its own. */
  readonly frameLength?: number;
  /** Random bytes come instead of every frame after the first. */
  readonly garbage?: boolean;
  /** Milliseconds without a received byte after which a connection is closed (instead of 60 s). */
  readonly closeAfterIdleMs?: number;
  /** Number of sent frames after which a connection is closed; the first empty frame counts. */
  readonly closeAfterFrames?: number;
  /** Reads from clients no faster than this. */
  readonly slowRead?: Trickle;
  /** Writes to clients no faster than this. */
  readonly slowWrite?: Trickle;
};
