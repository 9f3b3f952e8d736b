import type { Change, Subscription } from './changes.ts';

/** Accounts and traces of a subscription. */
type Watched = Pick<Subscription, 'accounts' | 'traces'>;

/** Ordinals of changes by the accounts and by the hashes that they concern. */
type ConcernedKeys = { readonly accounts: Map<string, number[]>; readonly traces: Map<string, number[]> };

/** Keys of lists that several replays read. The list itself is bounded by the cache of its block. */
const known = new WeakMap<readonly Change[], ConcernedKeys>();

/** The changes of a block that concern a subscription, in their order. Work depends on the smaller of both. */
export function changesFor(changes: readonly Change[], { accounts, traces }: Watched): readonly Change[] {
  const keys = knownKeysOf(changes);
  const found: number[] = [];
  collect(accounts, keys.accounts, found);
  collect(traces, keys.traces, found);
  // Nothing in most blocks.
  if (found.length === 0) return none;
  return [...new Set(found)].toSorted((one, other) => one - other).map((at) => changes[at]!);
}

const none: readonly never[] = [];

/** Adds the ordinals of keys that both sides have. A caller that comes back looks at each block since, so this allocates nothing. */
function collect(watched: ReadonlySet<string>, keys: ConcernedKeys['accounts'], found: number[]): void {
  if (watched.size < keys.size) {
    for (const key of watched) for (const at of keys.get(key) ?? none) found.push(at);
  } else {
    for (const [key, ordinals] of keys) if (watched.has(key)) for (const at of ordinals) found.push(at);
  }
}

function knownKeysOf(changes: readonly Change[]): ConcernedKeys {
  const there = known.get(changes);
  if (there !== undefined) return there;
  const made = keysOf(changes);
  known.set(changes, made);
  return made;
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
