import type { Change, Subscription } from './changes.ts';

/** Accounts and traces of a subscription. */
type Watched = Pick<Subscription, 'accounts' | 'traces'>;

/** Ordinals of changes by the accounts and by the hashes that they concern. */
type ConcernedKeys = { readonly accounts: Map<string, number[]>; readonly traces: Map<string, number[]> };

/** Keys of lists that several replays read. The list itself is bounded by the cache of its block. */
const known = new WeakMap<readonly Change[], ConcernedKeys>();

/** The changes of a block that concern a subscription, in their order. Work depends on the smaller of both. */
export function changesFor(changes: readonly Change[], { accounts, traces }: Watched): readonly Change[] {
  const keys = known.get(changes) ?? keysOf(changes);
  known.set(changes, keys);
  const found = new Set<number>();
  for (const key of common(accounts, keys.accounts)) for (const at of keys.accounts.get(key)!) found.add(at);
  for (const key of common(traces, keys.traces)) for (const at of keys.traces.get(key)!) found.add(at);
  return [...found].toSorted((one, other) => one - other).map((at) => changes[at]!);
}

function* common(watched: ReadonlySet<string>, keys: ReadonlyMap<string, unknown>): Generator<string> {
  const [fewer, more] = watched.size < keys.size ? [watched, keys] : [keys.keys(), watched];
  for (const key of fewer) if (more.has(key)) yield key;
}

function keysOf(changes: readonly Change[]): ConcernedKeys {
  const keys: ConcernedKeys = { accounts: new Map(), traces: new Map() };
  for (const [at, change] of changes.entries()) {
    for (const account of accountsOf(change)) add(keys.accounts, account, at);
    if (change.kind === 'trace') for (const hash of [change.key, ...change.hashes]) add(keys.traces, hash, at);
  }
  return keys;
}

/** Accounts of a change, some of them several times. */
export function* accountsOf(change: Change): Generator<string> {
  if (change.kind === 'state') yield change.account;
  else if (change.kind === 'jetton') yield* change.accounts;
  else if (change.kind === 'trace') {
    for (const { account } of change.transactions) yield account;
    for (const { accounts } of change.actions) yield* accounts;
  }
}

function add(ordinals: Map<string, number[]>, key: string, at: number): void {
  const there = ordinals.get(key);
  if (there === undefined) ordinals.set(key, [at]);
  else if (there.at(-1) !== at) there.push(at);
}
