import type { Span } from '@opentelemetry/api';
import type { WaitMasterchain } from './tl/envelope.ts';

export type LiteServerOptions = {
  /** Name in logs, metrics and traces. */
  readonly name: string;
  /** Address or DNS name. */
  readonly host: string;
  readonly port: number;
  /** Ed25519 public key, 32 bytes. */
  readonly publicKey: Buffer;
  readonly tuning?: Partial<LiteServerTuning>;
};

/** Tuning; `defaultTuning` has the reasons. */
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
  /** TCP and handshake take three network delays. 5 s allow a lost packet and its repeats on a slow line. */
  connectTimeoutMs: 5_000,
  /** The server drops a silent connection after 60 s, NATs after some minutes. A dead connection is noticed in 15 to 20 s. */
  pingAfterMs: 5_000,
  pingsMissedMax: 2,
  /** First pause after a failed attempt; it doubles with each. */
  backoffMinMs: 250,
  /** Long enough to spare a lite server that is down, short enough to notice its return soon. */
  backoffMaxMs: 15_000,
  /** A connection that lasted so long was good. Its end is no failure, and the next attempt comes at once. */
  stableMs: 10_000,
  /** A node works on a few queries at once and answers the rest late. Further queries would only wait there. */
  inFlightMax: 256,
};

export type QueryOptions = {
  /** Milliseconds in which an answer counts; waiting for a connection is included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Makes the lite server wait for a masterchain block first (service/liteserver/README.md#waiting-for-a-block). */
  readonly waitMasterchain?: WaitMasterchain | undefined;
  /** Parent of the query's span. */
  readonly span?: Span | undefined;
};
