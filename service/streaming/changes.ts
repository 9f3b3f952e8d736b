/** Level of an event: simulated, in a signed shard block, in a masterchain block (service/streaming/README.md#finality). */
export type Finality = 'pending' | 'confirmed' | 'finalized';

/** Levels in rising order. */
export const finalities: readonly Finality[] = ['pending', 'confirmed', 'finalized'];

/** Types that a caller subscribes to. */
export const eventTypes = ['transactions', 'actions', 'trace', 'account_state_change', 'jettons_change'] as const;

export type EventType = (typeof eventTypes)[number];

/** Reasons why a snapshot that was not final is withdrawn. */
export const invalidationReasons = ['expired', 'conflict', 'replaced', 'unmatched'] as const;

export type InvalidationReason = (typeof invalidationReasons)[number];

/** Position of a final change in the one order that all pods share. */
export type Position = {
  /** Masterchain block that made the change final. */
  readonly mcSeqno: number;
  /** Ordinal of the change within its block, from 0; `WHOLE_BLOCK` behind all changes of the block. */
  readonly index: number;
};

/** Index of a position behind all changes of its block: 32 bits. */
export const WHOLE_BLOCK = 2 ** 32 - 1;

/** Key of an account in maps and sets: `workchain:HEX`, upper case, as v3 writes accounts. */
export type AccountKey = string;

export function accountKey({ workchain, hash }: { readonly workchain: number; readonly hash: Uint8Array }): AccountKey {
  return `${workchain}:${hash.toHex().toUpperCase()}`;
}

/** A snapshot of a whole trace. JSON values are those of v3 for the same thing (service/v3/README.md). */
export type TraceSnapshot = {
  readonly kind: 'trace';
  /** Normalised hash of the root's external message in hex; the root transaction's hash for a trace without one. */
  readonly key: string;
  readonly finality: Finality;
  /** Position of a final change; null for others. */
  readonly position: Position | null;
  /** Hashes in hex by which a subscription names the trace, the key among them. */
  readonly hashes: readonly string[];
  /** Transactions by descending lt. */
  readonly transactions: readonly StreamTransaction[];
  /** Actions by descending end_lt, then start_lt. */
  readonly actions: readonly StreamAction[];
  /** JSON of the tree of v3, and whether a part of the trace is missing. */
  readonly tree: unknown;
  readonly isIncomplete: boolean;
  /** Hash of the root transaction in base64 for a trace without an external root; null otherwise. */
  readonly traceId: string | null;
  /** Part of a final trace that this change has; absent: the whole trace. */
  readonly stage?: TraceStage;
  /**
   * Base64 hashes of the transactions that this change made final; absent: all. A `transactions` event with `finality_scope: transaction` has
   * these alone.
   */
  readonly fresh?: ReadonlySet<string>;
};

/**
 * Parts of a final trace that one change does not cover. Events with `finality_scope: transaction` always have the `fresh` transactions. Other
 * events depend on the stage:
 * - `open`: the trace goes on, and there is no event. `transactions` are the fresh ones.
 * - `first`: the trace does not end soon. `transactions` are all so far; the three types of events have them once, marked incomplete.
 * - `next`: `transactions` are those since the last portion, for `transactions` events alone, marked incomplete.
 * - `last`: the trace has ended after portions. `transactions` are all; `transactions` events have the fresh ones, the other types the whole.
 */
export type TraceStage = 'open' | 'first' | 'next' | 'last';

/** Bytes of transactions and actions in one event. With labels an event stays below 3 MiB: clients refuse 4 MiB. */
export const CONTENT_BYTES_MAX = 2 * 1024 * 1024;

export type StreamTransaction = {
  readonly account: AccountKey;
  /** Base64. */
  readonly hash: string;
  /** JSON object of v3. */
  readonly view: object;
  /** Accounts that the address book of the view has. */
  readonly named: readonly AccountKey[];
};

export type StreamAction = {
  /** Name of the type in the newest vocabulary, and all names under which a version of the vocabulary shows the action. */
  readonly type: string;
  /** Types of the actions that contain it: a vocabulary with one of them does not show it. */
  readonly ancestorTypes: readonly string[];
  /** Accounts of the action: a subscription to one of them matches. */
  readonly accounts: readonly AccountKey[];
  /** JSON object of v3 with `accounts`; made for the vocabulary `supported`. Null: that vocabulary does not show this action. */
  viewFor(supported: ReadonlySet<string>): object | null;
  readonly named: readonly AccountKey[];
};

/** A state in an event. Its lt puts the states of an account in order; null for an account without a transaction. */
export type PlacedView = { readonly last_transaction_lt: string | null; readonly [field: string]: unknown };

/** New state of one account. */
export type StateChange = {
  readonly kind: 'state';
  readonly account: AccountKey;
  readonly finality: Exclude<Finality, 'pending'>;
  readonly position: Position | null;
  /** The field `state` of the event. */
  readonly state: PlacedView;
  /** The last final state again, in place of confirmed ones that are void. Connections at `finalized` had none of these. */
  readonly isCorrection?: true;
};

/** New state of one recognised jetton wallet. */
export type JettonChange = {
  readonly kind: 'jetton';
  /** Wallet and owner: a subscription to either matches. */
  readonly accounts: readonly AccountKey[];
  readonly finality: Exclude<Finality, 'pending'>;
  readonly position: Position | null;
  /** The field `jetton` of the event. */
  readonly jetton: PlacedView;
  /** Wallet, owner and master, the wallet first. */
  readonly named: readonly AccountKey[];
  /** The last final state again, as for `StateChange`. */
  readonly isCorrection?: true;
};

/** Withdrawal of all snapshots of a trace that were not final. */
export type Invalidation = {
  readonly kind: 'invalidation';
  readonly key: string;
  readonly reason: InvalidationReason;
  /** Snapshot that its maker withdraws. With a newer one of the level nothing is withdrawn. Absent: the trace has none of the level. */
  readonly withdraws?: SnapshotName | undefined;
};

/** Names a snapshot below `finalized` of a trace. */
export type SnapshotName = {
  readonly level: Exclude<Finality, 'finalized'>;
  /** Log of levels that has the snapshot, and the number of its record there. */
  readonly epoch: number;
  readonly number: number;
};

export type Change = TraceSnapshot | StateChange | JettonChange | Invalidation;

/** Checked wish of a caller, for both transports. */
export type Subscription = {
  readonly types: ReadonlySet<EventType>;
  readonly accounts: ReadonlySet<AccountKey>;
  /** Hashes in hex. */
  readonly traces: ReadonlySet<string>;
  readonly minFinality: Finality;
  readonly finalityScope: 'trace' | 'transaction';
  readonly includeAddressBook: boolean;
  readonly includeMetadata: boolean;
  /** Null: all types. */
  readonly actionTypes: ReadonlySet<string> | null;
  /** Expanded vocabulary of action types. */
  readonly supportedActionTypes: ReadonlySet<string>;
};

/** Final changes after a position, in order. */
export type FinalLog = {
  /** Position behind the newest block that was delivered to `onChanges`, or passed without a connection; null before the first block. */
  readonly newest: () => Position | null;
  /**
   * Reads a past block's changes again, the same objects in the same order as when they were new.
   * @throws StoreError
   */
  readonly changesOf: (mcSeqno: number, signal: AbortSignal) => Promise<readonly Change[]>;
  /**
   * Oldest seqno from which a resume is possible; null before the first block.
   * @throws StoreError also when the index lacks its newest block
   */
  readonly oldest: () => Promise<number | null>;
  /**
   * Blocks of a range that may have changes of accounts or traces, ascending. Other blocks up to `until` have none, so that a resume skips
   * them. `until` is the end of the range or an earlier block.
   * @throws StoreError
   */
  readonly touched?: (
    wish: Pick<Subscription, 'accounts' | 'traces'>,
    range: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ) => Promise<{ readonly seqnos: readonly number[]; readonly until: number }>;
  /** Final snapshot of a trace that the index has; undefined otherwise. */
  readonly findTrace: (hash: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
};

/** Address book and metadata of accounts, as v3 shows them. */
export type Labels = {
  /** Both answers have entries by the keys of the accounts. */
  readonly addressBook: (accounts: readonly AccountKey[], signal: AbortSignal) => Promise<object>;
  readonly metadata: (accounts: readonly AccountKey[], signal: AbortSignal) => Promise<object>;
};

/** Text of an event, which all its connections share. */
export type EventText = {
  /** JSON in a line, without `cursor`. */
  readonly json: string;
  /** Bytes of the text without its last brace: a cursor follows. Made once. */
  readonly body: () => Buffer;
};

/** A caller's end of a connection. The transport frames texts; the hub decides what is sent. */
export type Sink = {
  /** Bytes that the transport has not given to the kernel yet. */
  readonly unsentBytes: () => number;
  /**
   * Writes one event.
   * @param cursor text of the cursor after this event
   */
  readonly event: (event: EventText, cursor: string) => void;
  /** Ends the connection with a close code and its reason, and the cursor from which the caller resumes. */
  readonly end: (code: number, reason: string, cursor: string | null) => void;
};

/** How a subscription begins. */
export type Begun = {
  readonly cursor: string;
  readonly resumed: 'full' | 'finalized' | 'none' | null;
  /** Blocks to read from v3 when a resume is not possible. */
  readonly gap: { readonly from_mc_seqno: number; readonly to_mc_seqno: number } | null;
};

/** A connection at the hub. */
export type HubConnection = {
  /**
   * Replaces the subscription. `answer` runs before every event of the new subscription and after the last event of the former.
   * @param cursor text that the caller gave; undefined for none
   * @throws StreamingError `invalid_cursor`, `replay_busy`
   */
  readonly subscribe: (wish: Subscription, cursor: string | undefined, answer: (begun: Begun) => void) => Promise<void>;
  /** Removes accounts and traces. */
  readonly unsubscribe: (accounts: ReadonlySet<AccountKey>, traces: ReadonlySet<string>) => void;
  /** Cursor after the newest event that was written. */
  readonly cursor: () => string;
  /** The transport has room again. */
  readonly drain: () => void;
  readonly close: () => void;
};

/** Distributes changes to the connections of this process. */
export type Hub = {
  readonly open: (sink: Sink, owner: { readonly keyId: string }) => HubConnection;
  /** New changes in order. Resolves when each matching connection has them in its queue. */
  readonly publish: (changes: readonly Change[]) => Promise<void>;
  readonly status: () => { readonly connections: number; readonly queueBytes: number };
  readonly close: () => Promise<void>;
};
