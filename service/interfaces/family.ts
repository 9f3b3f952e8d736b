import type { AccountId } from '../live/accounts/accounts.ts';
import type { StackEntry } from '../tvm/stack.ts';
import type { Detected } from './detector.ts';
import type { Ask } from './method-names.ts';

/** Returns the result of a method by its name; undefined when it was not run, or did not end well. */
export type Answers = (method: string) => readonly StackEntry[] | undefined;

/** Account that may be of a kind, with the results of its own get-methods. */
export type Subject = {
  readonly account: AccountId;
  /** Address in the form of address columns. */
  readonly key: Buffer;
  readonly codeHash: Buffer;
  /** Data as BoC. */
  readonly data: Buffer;
  /** State columns of each contract's row. */
  readonly state: { readonly last_trans_lt: bigint; readonly code_hash: Buffer; readonly data_hash: Buffer };
  readonly answers: Answers;
};

/** Query to another contract about the subject. */
export type Consultation<T> = {
  readonly by: AccountId;
  /** Text of the query. It differs from every other query to `by` about the same subject. */
  readonly about: string;
  readonly asks: readonly Ask[];
  readonly read: (answers: Answers) => T;
  /** Returns the bytes of the value in the cache. */
  readonly weigh: (value: T) => number;
};

/** Environment of the subject on the chain, as of the same block. */
export type DetectionContext = {
  /** Returns the answer of `by`; undefined when `by` has no code. The answer stays the same until the next transaction of `by`. */
  consult<T>(consultation: Consultation<T>): Promise<T | undefined>;
  /** Returns the zone of the names of a collection's items, without a leading dot. */
  zoneOf(collection: AccountId): Promise<string | undefined>;
};

/** Rows and facts of a detected contract. */
export type Found = Partial<Omit<Detected, 'lastTransLt'>>;

/**
 * Reason why a contract is not of the kind that its methods suggest. `malformed`: its results do not fit. `unconfirmed`: the responsible contract
 * does not confirm it.
 */
export type NotFound = 'malformed' | 'unconfirmed';

/** Kind of contract. */
export type Family = {
  readonly kind: string;
  /** Code hashes of the kind in base64. Contracts with other code are not of the kind. */
  readonly codeHashes?: ReadonlySet<string>;
  /** Methods that each contract of the kind has; run in one visit. */
  readonly needs: readonly string[];
  /** Further methods that are run with them if the code has them. */
  readonly asks?: readonly string[];
  detect(subject: Subject, around: DetectionContext): Found | NotFound | Promise<Found | NotFound>;
};
