import { durationMs } from './duration.ts';
import type { TonApi } from './manifest.gen.ts';

/** Connections of the surface `stream`. */
export type StreamingConfig = {
  /** Open connections of a pod. */
  readonly maxConnectionsPerPod: number;
  /** `Off`: no lite server is asked for signed shard blocks. */
  readonly confirmed: 'Auto' | 'Off';
  /** Time in milliseconds for which cursors bring each level, and final events; events of one resume. */
  readonly replay: { readonly shortMs: number; readonly finalMs: number; readonly events: number };
  /** Unsent events and bytes of a connection, and unsent bytes of a pod. */
  readonly queue: {
    readonly eventsPerConnection: number;
    readonly bytesPerConnection: number;
    readonly bytesPerPod: number;
  };
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
  return { shortMs: durationMs(replay.short) ?? 0, finalMs: durationMs(replay.final) ?? 0, events: replay.events };
}
