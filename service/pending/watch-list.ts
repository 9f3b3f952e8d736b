import type { ReadContext } from '../contract/answer.ts';
import type { ExternalMessage } from '../live/send/external-message.ts';

/** A message that no block takes within this time expires. Wallet orders are valid for one to five minutes. */
export const KEPT_MS = 300_000;

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
  read: ReadonlyMap<string, Buffer> | undefined;
  /** The index has begun with it: it will not be run again. */
  isTaken: boolean;
  /** Never simulated, and refused at a head. That head may be older than the head of the lite server that accepted the message. */
  isDoubtful: boolean;
  /** First head at which the message would be refused: a block has it already, or never will. */
  refusedAt: number | undefined;
};

/** Watched messages by key (normalised hash in hex), oldest first. */
export type WatchList = Map<string, Watched>;

/** Returns a message that was not run yet. */
export function watchedFrom(sent: Pick<Watched, 'message' | 'sender' | 'sentUnixMs' | 'sinceUtime'>): Watched {
  return { ...sent, spellings: [], seqno: 0, read: undefined, isTaken: false, isDoubtful: false, refusedAt: undefined };
}
