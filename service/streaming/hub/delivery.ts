import { finalities, type TraceSnapshot } from '../changes.ts';
import { positionOf, steps } from './positions.ts';
import { renderInvalidation, type RenderedView, type TraceRendering, type Viewer } from './render.ts';
import type { Subscriber } from './subscriber.ts';
import { ranks, traceTypes, type Shown, type TraceEntry, type TraceType } from './trace-memory.ts';
import type { Selection, TraceAccounts } from './trace-selection.ts';

/** A snapshot and its texts. */
export type RenderableTrace = {
  readonly snapshot: TraceSnapshot;
  readonly accounts: TraceAccounts;
  readonly rendering: TraceRendering;
};

/** Match of a snapshot and a connection. */
export type TraceMatch = {
  /** Ordinals of accounts of the snapshot that the connection may have subscribed to. */
  readonly ordinals: readonly number[];
  /** The snapshot is what is known now, for a connection that has just begun: `trace` alone, at no new position. */
  readonly isCurrent?: boolean;
};

/** Accounts that an entry remembers. */
const ENTRY_ACCOUNTS_MAX = 16;

/** Reports whether a subscription gets events of a level. */
export function wantsLevel({ wish }: Viewer, finality: TraceSnapshot['finality']): boolean {
  return finalities.indexOf(finality) >= finalities.indexOf(wish.minFinality);
}

/**
 * Gives a connection the events of a snapshot: once a level, in rising order, and content that is not final only when it differs
 * (service/streaming/README.md#finality).
 */
export function deliverTrace(to: Subscriber, one: RenderableTrace, match: TraceMatch): void {
  const viewer = to.viewer();
  const { snapshot, accounts } = one;
  if (viewer === undefined || !to.isOpen() || !wantsLevel(viewer, snapshot.finality)) return;
  const { wish } = viewer;
  const mine = match.ordinals.filter((at) => wish.accounts.has(accounts.accounts[at]!));
  const selection = accounts.select(mine);
  const hash = snapshot.hashes.find((name) => wish.traces.has(name));
  let entry = to.memory.get(snapshot.key);
  if (entry !== undefined && hash === undefined && isUnmatched(entry, one, selection, viewer)) {
    sendInvalidation(to, snapshot, 'unmatched');
    to.memory.drop(snapshot.key);
    entry = undefined;
  }
  const shown = new Map(entry?.shown);
  for (const type of match.isCurrent === true ? (['trace'] as const) : traceTypes) {
    const view = wish.types.has(type) ? viewOf(type, one, { selection, hash, viewer }) : undefined;
    if (view === undefined || !isNews(view, shown.get(type))) continue;
    sendView(to, snapshot, { type, view, isCurrent: match.isCurrent === true });
    shown.set(type, { rank: view.rank, print: view.print });
  }
  remember(to, snapshot, { shown, accounts: mine.map((at) => accounts.accounts[at]!), hash }, entry);
}

/** Withdraws the snapshots that a connection was sent, unless it no longer watches the trace. */
export function deliverInvalidation(to: Subscriber, key: string, reason: string): void {
  const entry = to.memory.get(key);
  if (entry === undefined || !isPassing(entry)) return;
  const wish = to.viewer()?.wish;
  to.memory.drop(key);
  if (wish === undefined) return;
  const isWatched = entry.accounts.some((account) => wish.accounts.has(account));
  if (isWatched || (entry.hash !== undefined && wish.traces.has(entry.hash))) {
    sendInvalidation(to, { key, position: null }, reason);
  }
}

/** A snapshot was shown that may still be withdrawn. */
function isPassing({ shown }: TraceEntry): boolean {
  return shown.values().some(({ rank }) => rank < ranks.unended);
}

type RankedView = RenderedView & {
  readonly rank: number;
  /** The view has transactions that no earlier one had: it is no snapshot, and always news. */
  readonly isPortion: boolean;
};

type Seen = { readonly selection: Selection; readonly hash: string | undefined; readonly viewer: Viewer };

function viewOf(
  type: TraceType,
  { snapshot, rendering }: RenderableTrace,
  { selection, hash, viewer }: Seen,
): RankedView | undefined {
  if (type === 'transactions') return transactionsOf(snapshot, rendering, selection, viewer);
  const { stage } = snapshot;
  if (stage === 'open' || stage === 'next') return undefined;
  const ranked = { rank: rankOf(snapshot), isPortion: false };
  if (type === 'trace') return hash === undefined ? undefined : { ...rendering.trace(viewer), ...ranked };
  const view = rendering.actions(selection, viewer);
  return view && { ...view, ...ranked };
}

function transactionsOf(
  snapshot: TraceSnapshot,
  rendering: TraceRendering,
  selection: Selection,
  viewer: Viewer,
): RankedView | undefined {
  const { stage, fresh, transactions } = snapshot;
  const isByTransaction = viewer.wish.finalityScope === 'transaction' && snapshot.finality === 'finalized';
  if (stage === 'open' && !isByTransaction) return undefined;
  const isFresh = fresh !== undefined && (isByTransaction || stage === 'last');
  const chosen = isFresh
    ? selection.transactions.filter((at) => fresh.has(transactions[at]!.hash))
    : selection.transactions;
  if (chosen.length === 0) return undefined;
  const isPortion = isByTransaction || stage === 'next' || stage === 'last';
  const name = isFresh ? `fresh ${selection.name}` : selection.name;
  const view = rendering.transactions(name, chosen, viewer, snapshot.isIncomplete && !isByTransaction);
  return { ...view, rank: rankOf(snapshot), isPortion };
}

function rankOf({ finality, stage }: TraceSnapshot): number {
  if (finality !== 'finalized') return ranks[finality];
  return stage === undefined || stage === 'last' ? ranks.finalized : ranks.unended;
}

function isNews(view: RankedView, shown: Shown | undefined): boolean {
  if (shown === undefined || view.rank > shown.rank) return true;
  if (view.rank < shown.rank) return false;
  if (view.rank === ranks.unended) return view.isPortion;
  return view.rank < ranks.unended && view.print !== shown.print;
}

/** A type that the connection was shown has nothing for it any more. A snapshot says nothing about what was shown at a higher level. */
function isUnmatched(
  { shown }: TraceEntry,
  { snapshot, rendering }: RenderableTrace,
  selection: Selection,
  viewer: Viewer,
): boolean {
  if (snapshot.stage === 'open' || snapshot.stage === 'next') return false;
  for (const [type, { rank }] of shown) {
    if (rank >= ranks.unended || rank > rankOf(snapshot) || !viewer.wish.types.has(type)) continue;
    if (type === 'transactions' && selection.transactions.length === 0) return true;
    if (type === 'actions' && rendering.actions(selection, viewer) === undefined) return true;
  }
  return false;
}

function remember(
  to: Subscriber,
  snapshot: TraceSnapshot,
  { shown, accounts, hash }: TraceEntry,
  before: TraceEntry | undefined,
): void {
  if (shown.size === 0) return;
  // Nothing follows a final trace, apart from what a caller asks for by its hash.
  if (hash === undefined && rankOf(snapshot) === ranks.finalized) return to.memory.drop(snapshot.key);
  // A connection at `finalized` gets each change once, by its position.
  if (hash === undefined && to.viewer()?.wish.minFinality === 'finalized') return;
  // A snapshot of a lower level may match no account. A withdrawal then goes by the accounts of earlier snapshots.
  const all = [...new Set([...accounts, ...(before?.accounts ?? [])])];
  to.memory.put(snapshot.key, { shown, accounts: all.slice(0, ENTRY_ACCOUNTS_MAX), hash: hash ?? before?.hash });
}

function sendInvalidation(
  to: Subscriber,
  { key, position }: Pick<TraceSnapshot, 'key' | 'position'>,
  reason: string,
): void {
  const at = position === null ? null : positionOf(position, steps.unmatched);
  if (at !== null && to.isPast(at)) return;
  to.send(renderInvalidation(key, reason), { type: 'trace_invalidated', finality: 'none', position: at, slot: null });
}

function sendView(
  to: Subscriber,
  { key, finality, position }: TraceSnapshot,
  { type, view, isCurrent }: { readonly type: TraceType; readonly view: RankedView; readonly isCurrent: boolean },
): void {
  const slot = `${type}:${key}`;
  if (!view.isPortion) to.queue.supersede(slot);
  const sendings = view.events.map((event, part) => {
    const at = position === null || isCurrent ? null : positionOf(position, stepOf(type, part));
    return { event, at, isPast: at !== null && to.isPast(at) };
  });
  for (const { event, at, isPast } of sendings) {
    if (!isPast) to.send(event, { type, finality, position: at, slot: finality === 'finalized' ? null : slot });
  }
}

function stepOf(type: TraceType, part: number): number {
  if (type === 'transactions') return Math.min(steps.part + part, steps.partsEnd);
  return type === 'actions' ? steps.actions : steps.last;
}
