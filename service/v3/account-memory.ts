import { createKeptNotes, type KeptNotes, type KeptNotesOptions } from './kept-notes.ts';

/** Accounts that were read before, of which none is told as it was before a change that the index tells. */
export type AccountMemory<T> = {
  /** What is kept now; for one call, which reads what it does not have. */
  open(): MemoryView<T>;
  /** What is held, in bytes as given. */
  readonly bytes: () => number;
};

export type MemoryView<T> = {
  /** The transaction from which on the call is to ask for changes: whatever `get` gives has seen all before it. Undefined: nothing is kept yet. */
  readonly since: bigint | undefined;
  get(key: string): T | undefined;
  /** Takes what the call read, as soon as it comes, and before `keep`. Of what `get` gave that is old which changed; all of it where too many did. */
  learn(reading: Reading): void;
  /** Keeps an account of a reading. */
  keep(reading: Reading, key: string, note: T): void;
};

/** What a query saw, beside the accounts. */
export type Reading = {
  /** No transaction that the query did not see has a lower number. */
  readonly settled: bigint;
  /** Keys that changed in transactions from `since` on that the query saw; undefined: too many to tell. */
  readonly changed: ReadonlySet<string> | undefined;
};

export type AccountMemoryOptions<T> = KeptNotesOptions<T> & {
  /** Everything is forgotten after this: shorter than the index knows what changed. */
  readonly keptMsMax: number;
};

/** @param dependencies.clock milliseconds, ascending */
export function createAccountMemory<T>(
  { keptMsMax, ...options }: AccountMemoryOptions<T>,
  { clock }: { readonly clock: () => number },
): AccountMemory<T> {
  /** With `since` as in a view, of all that is kept. */
  type Life = { readonly notes: KeptNotes<T>; readonly endMs: number; since?: bigint };
  const begin = (): Life => ({ notes: createKeptNotes(options), endMs: clock() + keptMsMax });
  let life = begin();

  return {
    open() {
      if (clock() >= life.endMs) life = begin();
      const own = life;
      const { since } = own;
      return {
        since,
        get: (key) => own.notes.get(key),
        learn({ settled, changed }) {
          if (changed === undefined) own.notes.clear();
          else for (const key of changed) own.notes.drop(key);
          // One that was asked for less than all changes since then leaves those to be asked for, as does a server that is behind the one before.
          const hasAll = own.since === undefined || (since !== undefined && since <= own.since);
          if (hasAll && settled > (own.since ?? -1n)) own.since = settled;
        },
        keep({ settled }, key, note) {
          if (own.since !== undefined && settled >= own.since) own.notes.keep(key, note);
        },
      };
    },
    bytes: () => life.notes.bytes(),
  };
}
