import { readDurationMs } from './duration.ts';
import type { TonApi } from './manifest.gen.ts';

/** Settings of streams that may change while they run. No connection ends by a change. */
export type StreamSettings = {
  /** `Off`: no lite server is asked for signed shard blocks, and the level `confirmed` has no events of this process. */
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

/** Connections of the surface `stream`. */
export type StreamingConfig = StreamSettings & {
  /** Open connections of a pod. */
  readonly maxConnectionsPerPod: number;
};

/** Streaming of manifests without `streaming` or without a part of it. */
export const streamingDefaults: StreamingConfig = {
  maxConnectionsPerPod: 20_000,
  confirmed: 'Auto',
  replay: { shortMs: 600_000, finalMs: 86_400_000, events: 100_000 },
  queue: { eventsPerConnection: 256, bytesPerConnection: 1_048_576, bytesPerPod: 268_435_456 },
};

export function streamingOf(streaming: TonApi['spec']['streaming']): StreamingConfig {
  if (streaming === undefined) return streamingDefaults;
  const { maxConnectionsPerPod, confirmed, replay, queue = streamingDefaults.queue } = streaming;
  return { maxConnectionsPerPod, confirmed, replay: replayOf(replay), queue };
}

function replayOf(replay: NonNullable<TonApi['spec']['streaming']>['replay']): StreamingConfig['replay'] {
  if (replay === undefined) return streamingDefaults.replay;
  return { shortMs: readDurationMs(replay.short), finalMs: readDurationMs(replay.final), events: replay.events };
}
