import type { ReadContext } from '../contract/answer.ts';
import type { ExternalMessage } from '../live/send/external-message.ts';

/** A message is forgotten after this time, also when the index is away. */
export const KEPT_MS = 300_000;

/** A message that no indexed block has after this time expires. A block that takes it later makes its trace without a simulation before it. */
export const EXPIRY_MS = 60_000;

/** Clock difference of validators in seconds. A shard's block may seem older than the head that was served before it. */
export const SKEW_SECONDS = 5;

/** Messages watched by one process; each holds some 30 KB and is run once for each change of its accounts. */
export const WATCHED_MAX = 256;

/** A sent message, from its acceptance by a lite server until its trace is indexed. */
export type Watched = {
  readonly message: ExternalMessage;
  readonly sender: Pick<ReadContext, 'access'>;
  readonly sentUnixMs: number;
  readonly sinceUtime: number;
  /** Hashes of other messages that differ only in parts that the sender may choose freely, in hex. */
  readonly spellings: string[];
  /** Head that it was run at last. */
  seqno: number;
  /** Accounts as they were then; undefined while it is to be run again whether they change or not. */
  read: ReadonlyMap<string, string> | undefined;
  /** The index has begun with it: it will not be run again. */
  isTaken: boolean;
  /** Never simulated, and refused at a head. That head may be older than the head of the lite server that accepted the message. */
  isDoubtful: boolean;
  /** First head at which the message would be refused: a block has it already, or never will. */
  refusedAt: number | undefined;
  /** Last Unix second in which its wallet accepts it; undefined until it was run, and when it has no such time. */
  validUntil: number | undefined;
  /** First head at which its time was over. It expires when the index has passed that head without it. */
  overdueAt: number | undefined;
};

/** Watched messages by key (normalised hash in hex), oldest first. */
export type WatchList = Map<string, Watched>;

/** Returns a message that was not run yet. */
export function watchedFrom(sent: Pick<Watched, 'message' | 'sender' | 'sentUnixMs' | 'sinceUtime'>): Watched {
  return {
    ...sent,
    spellings: [],
    seqno: 0,
    read: undefined,
    isTaken: false,
    isDoubtful: false,
    refusedAt: undefined,
    validUntil: undefined,
    overdueAt: undefined,
  };
}

/**
 * Reports whether the time of a message is over: its own validity by the clock of the chain, or `EXPIRY_MS`.
 * @param now.utime of the served head, Unix seconds
 */
export function isOverdue(
  { sentUnixMs, validUntil }: Pick<Watched, 'sentUnixMs' | 'validUntil'>,
  now: { readonly unixMs: number; readonly utime: number },
): boolean {
  return now.unixMs - sentUnixMs >= EXPIRY_MS || (validUntil !== undefined && now.utime > validUntil + SKEW_SECONDS);
}
