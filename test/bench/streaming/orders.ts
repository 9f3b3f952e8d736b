/** Orders to a server under load: the pod, or the floor. */
export type ServerOrder =
  /** Sends events to each connection, one after the other. */
  | { readonly kind: 'publish'; readonly events: number }
  | { readonly kind: 'memory' }
  | { readonly kind: 'cpu' }
  /** Makes a block a second with the traffic of a network, which no connection watches. */
  | { readonly kind: 'traffic'; readonly seconds: number }
  /** Makes blocks of a minute at once. Some have an event of the account that every connection watches. */
  | { readonly kind: 'history' }
  /** Sends one event to the connections that are open while others resume. */
  | { readonly kind: 'live' };

/** CPU of publications, and the longest turn of the loop in CPU. */
export type Published = { readonly kind: 'published'; readonly cpuMs: number; readonly loopMs: number };

export type ServerMemory = { readonly kind: 'memory'; readonly rssBytes: number; readonly heapBytes: number };

export type ServerAnswer =
  | { readonly kind: 'ready'; readonly port: number }
  | Published
  | ServerMemory
  /** Time of the process since its start. */
  | { readonly kind: 'cpu'; readonly cpuMs: number }
  /** Share of a core, in percent. */
  | { readonly kind: 'traffic'; readonly cpuPercent: number }
  /** Cursor from before the minute. */
  | { readonly kind: 'history'; readonly cursor: string }
  | { readonly kind: 'live' };

/** Orders to the process of the callers. */
export type CallersOrder =
  | { readonly kind: 'open'; readonly port: number; readonly connections: number; readonly account: string }
  /** Opens so many connections a second, each with the cursor. */
  | {
      readonly kind: 'resume';
      readonly port: number;
      readonly connections: number;
      readonly perSecond: number;
      readonly cursor: string;
    }
  /** Waits until each connection has had so many more events. */
  | { readonly kind: 'await'; readonly events: number }
  /** Subscribes over a WebSocket of its own. */
  | { readonly kind: 'subscribe'; readonly port: number; readonly addresses: number; readonly times: number };

export type CallersAnswer =
  | { readonly kind: 'opened' }
  /** Unix milliseconds of the last event. */
  | { readonly kind: 'arrived'; readonly atMs: number }
  /** Times from the connection to the answer. */
  | { readonly kind: 'resumed'; readonly timesMs: readonly number[] }
  | { readonly kind: 'subscribed'; readonly timesMs: readonly number[] };

/** Account that every connection watches. */
export const watchedAccount = `0:${'AB'.repeat(32)}`;

/** Account of the connections that are open while others resume. */
export const liveAccount = `0:${'CD'.repeat(32)}`;

/** Byte that each event has once, and no other frame. */
export const MARK = '~';

/** Bytes of an event, without its frame. */
export const EVENT_BYTES = 2400;

/** Addresses of a connection in load. */
export const ADDRESSES = 10;

/** Address of a connection that no event has. */
export function quietAddress(connection: number, ordinal: number): string {
  return `0:${(connection * 100_000 + ordinal + 1).toString(16).toUpperCase().padStart(64, '0')}`;
}
