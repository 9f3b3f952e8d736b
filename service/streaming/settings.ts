/** Settings of streams that may change while they run. No connection ends by a change. */
export type StreamSettings = {
  /** `Off`: no lite server is asked for signed blocks, and the level `confirmed` has no events of this process. */
  readonly confirmed: 'Auto' | 'Off';
  readonly replay: {
    /** Milliseconds for which a cut connection is watched, so that its cursor brings each level. */
    readonly shortMs: number;
    /** Milliseconds of the past from which a cursor brings final events. */
    readonly finalMs: number;
    /** Events of one resume. */
    readonly events: number;
  };
  readonly queue: {
    /** Unsent events and bytes of a connection. */
    readonly eventsPerConnection: number;
    readonly bytesPerConnection: number;
    /** Unsent bytes of all connections of a process. Above it the longest queue ends its connection. */
    readonly bytesPerPod: number;
  };
};

/** Settings without any in the manifest. */
export const defaultSettings: StreamSettings = {
  confirmed: 'Auto',
  replay: { shortMs: 600_000, finalMs: 86_400_000, events: 100_000 },
  queue: { eventsPerConnection: 256, bytesPerConnection: 1_048_576, bytesPerPod: 268_435_456 },
};
