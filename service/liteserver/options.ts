import type { Span } from '@opentelemetry/api';
import type { WaitMasterchain } from './tl/envelope.ts';

export type LiteServerOptions = {
  /** Names it in logs, metrics and traces. */
  readonly name: string;
  /** Address or DNS name. */
  readonly host: string;
  readonly port: number;
  /** Ed25519 public key, 32 bytes. */
  readonly publicKey: Buffer;
  readonly tuning?: Partial<LiteServerTuning>;
};

/** What may be set, with the reasons of `defaultTuning`. */
export type LiteServerTuning = {
  readonly connectTimeoutMs: number;
  readonly pingAfterMs: number;
  readonly pingsMissedMax: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  readonly stableMs: number;
  readonly inFlightMax: number;
};

export const defaultTuning: LiteServerTuning = {
  /** TCP and handshake take three network delays; 5 s is a lost packet and its repeats on a slow line. */
  connectTimeoutMs: 5_000,
  /** The server drops a silent connection after 60 s, NATs after some minutes; a dead one is noticed in 15 to 20 s. */
  pingAfterMs: 5_000,
  pingsMissedMax: 2,
  /** First pause after a failed attempt; doubles with each. */
  backoffMinMs: 250,
  /** Long enough to spare a lite server that is down, short enough to be back soon after it is. */
  backoffMaxMs: 15_000,
  /** A connection that lasted so long was a good one: its end is no failure, and the next attempt comes at once. */
  stableMs: 10_000,
  /** A node works on a few queries at once and answers the rest late; more only wait there instead of elsewhere. */
  inFlightMax: 256,
};

export type QueryOptions = {
  /** Until when an answer counts, in milliseconds from now; waiting for a connection is within it. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Asks the lite server to wait for a masterchain block first (lite server sheet 3). */
  readonly waitMasterchain?: WaitMasterchain | undefined;
  /** Parent of the query's span. */
  readonly span?: Span | undefined;
};
