import type { AccountId } from '../live/accounts.ts';
import type { StackEntry } from '../live/vm-values.ts';
import type { Detected } from './detector.ts';
import type { Ask } from './method-names.ts';

/** The result of a method by its name; undefined when it was not asked, or did not end well. */
export type Answers = (method: string) => readonly StackEntry[] | undefined;

/** An account that may be something, with what its own get-methods said. */
export type Subject = {
  readonly account: AccountId;
  /** As columns of addresses hold it. */
  readonly key: Buffer;
  readonly codeHash: Buffer;
  /** BoC. */
  readonly data: Buffer;
  /** What stands beside each contract's row. */
  readonly state: { readonly last_trans_lt: bigint; readonly code_hash: Buffer; readonly data_hash: Buffer };
  readonly answers: Answers;
};

/** What another contract is asked about the subject. */
export type Consultation<T> = {
  readonly by: AccountId;
  /** What is asked, in words that tell it from everything else that `by` may be asked about the same subject. */
  readonly about: string;
  readonly asks: readonly Ask[];
  readonly read: (answers: Answers) => T;
  /** Bytes that the value takes when it is kept. */
  readonly weigh: (value: T) => number;
};

/** The chain around the subject, as of the same block. */
export type Surroundings = {
  /** What `by` says; undefined when it has no code. The same as long as `by` has no further transaction. */
  consult<T>(consultation: Consultation<T>): Promise<T | undefined>;
  /** The zone whose names the items of a collection are, without a dot before it. */
  zoneOf(collection: AccountId): Promise<string | undefined>;
};

/** Rows and facts of what a contract is. */
export type Found = Partial<Omit<Detected, 'lastTransLt'>>;

/** Why a contract is not what its methods suggest: they say something else, or who has to does not confirm it. */
export type NotFound = 'malformed' | 'unconfirmed';

/** One kind of contract. */
export type Family = {
  readonly kind: string;
  /** Base64: contracts of other code are none. */
  readonly codeHashes?: ReadonlySet<string>;
  /** Methods that each contract of the kind has; asked in one visit. */
  readonly needs: readonly string[];
  /** Others that are asked with them, of contracts that have them. */
  readonly asks?: readonly string[];
  detect(subject: Subject, around: Surroundings): Found | NotFound | Promise<Found | NotFound>;
};
