import {
  finalities,
  type Finality,
  type Invalidation,
  type Position,
  type Subscription,
  type TraceSnapshot,
} from '../changes.ts';
import type { LevelHead } from './levels-log.ts';
import { markOf, positionOf, steps } from './positions.ts';
import { renderInvalidation } from './render.ts';
import type { Sending, Subscriber } from './subscriber.ts';
import { ranks, type Shown, type TraceEntry } from './trace-memory.ts';
import type { Selection } from './trace-selection.ts';
import { rankOf, type RenderableTrace, type TraceView } from './trace-views.ts';
import type { Viewer } from './viewer.ts';

/** Accounts that an entry remembers. */
const ENTRY_ACCOUNTS_MAX = 16;

/** Reports whether a subscription gets events of a level. */
export function wantsLevel({ wish }: Viewer, finality: TraceSnapshot['finality']): boolean {
  return isFrom(finality, wish.minFinality);
}

function isFrom(finality: Finality, lowest: Finality): boolean {
  return lowest === finality || finalities.indexOf(finality) > finalities.indexOf(lowest);
}

/** A resume at a higher level restores the snapshots of lower levels up to its cursor: they may still be withdrawn. */
function wasShown(to: Subscriber, { record, snapshot }: RenderableTrace): boolean {
  if (record === null || to.shownFrom === undefined || !to.isReplayingLevels) return false;
  const isPast = to.isPast({ position: null, mark: markOf(record, steps.last) });
  return isPast && isFrom(snapshot.finality, to.shownFrom);
}

/**
 * Gives a connection the events of a snapshot: once a level, in rising order, and content that is not final only when it differs
 * (service/streaming/README.md#finality).
 * @param ordinals of accounts of the snapshot that the connection may have subscribed to
 */
export function deliverTrace(to: Subscriber, one: RenderableTrace, ordinals: readonly number[]): void {
  const viewer = to.viewer();
  const { snapshot, accounts } = one;
  if (viewer === undefined || !to.isWatching()) return;
  if (!wantsLevel(viewer, snapshot.finality) && !wasShown(to, one)) return;
  const { wish } = viewer;
  const isMine = (at: number): boolean => wish.accounts.has(accounts.accounts[at]!);
  const mine = ordinals.every(isMine) ? ordinals : ordinals.filter(isMine);
  const selection = accounts.select(mine);
  const hash = wish.traces.size === 0 ? undefined : snapshot.hashes.find((name) => wish.traces.has(name));
  let entry = to.memory.get(snapshot.key);
  const views = one.viewsFor(viewer, selection, hash !== undefined);
  if (entry !== undefined && hash === undefined && isUnmatched(entry, one, { selection, viewer, views })) {
    const step = views.length === 0 ? steps.last : steps.unmatched;
    const { key, position } = snapshot;
    sendInvalidation(to, { key, position, mark: one.record && markOf(one.record, step) }, 'unmatched');
    to.memory.drop(snapshot.key);
    entry = undefined;
  }
  const news = views.filter((view) => isNews(view, entry?.shown.get(view.type)));
  for (const view of news) sendView(to, view, view === news.at(-1) ? one.record : null);
  // Nothing follows a final trace, apart from what a caller asks for by its hash.
  if (hash === undefined && rankOf(snapshot) === ranks.finalized) to.memory.drop(snapshot.key);
  // A connection at `finalized` gets each change once, by its position.
  else if (hash !== undefined || wish.minFinality !== 'finalized') {
    remember(to, snapshot, { news, accounts: mine.map((at) => accounts.accounts[at]!), hash }, entry);
  }
}

/**
 * Withdraws the snapshots that a connection was sent, unless it no longer watches the trace.
 * @param record number of the withdrawal in the log of levels
 * @param heads of the newest snapshots; a new subscription may name another account or hash of the trace
 */
export function deliverInvalidation(
  to: Subscriber,
  { key, reason }: Invalidation,
  record: number | null,
  heads: readonly LevelHead[],
): void {
  const entry = to.memory.get(key);
  if (entry === undefined || !isPassing(entry)) return;
  const wish = to.viewer()?.wish;
  to.memory.drop(key);
  if (wish === undefined) return;
  const { accounts, hash } = entry;
  const shown = { accounts, names: hash === undefined ? [] : [hash] };
  if ([shown, ...heads].some((one) => isWatched(wish, one))) {
    sendInvalidation(to, { key, position: null, mark: record && markOf(record, steps.last) }, reason);
  }
}

function isWatched(wish: Subscription, { accounts, names }: Pick<LevelHead, 'accounts' | 'names'>): boolean {
  return accounts.some((account) => wish.accounts.has(account)) || names.some((name) => wish.traces.has(name));
}

/** A snapshot was shown that may still be withdrawn. */
function isPassing({ shown }: TraceEntry): boolean {
  return shown.values().some(({ rank }) => rank < ranks.unended);
}

function isNews({ shown: { rank, print, position }, isPortion }: TraceView, last: Shown | undefined): boolean {
  if (last === undefined || rank > last.rank) return true;
  if (rank < last.rank) return false;
  // A message that began two traces: each of them ends.
  if (rank === ranks.finalized) return isElsewhere(position, last.position);
  if (rank === ranks.unended) return isPortion;
  return rank < ranks.unended && print !== last.print;
}

function isElsewhere(one: Position | null, other: Position | null): boolean {
  return one !== null && other !== null && (one.mcSeqno !== other.mcSeqno || one.index !== other.index);
}

/**
 * A type that the connection was shown has nothing for it any more. A snapshot says nothing about what was shown at a higher level, and nothing about
 * messages that are on their way.
 */
function isUnmatched(
  { shown }: TraceEntry,
  { snapshot, rendering }: RenderableTrace,
  { selection, viewer, views }: Matched,
): boolean {
  const isEnd = rankOf(snapshot) === ranks.finalized;
  if (snapshot.isIncomplete && !isEnd) return false;
  // Transactions that were final before the subscription are in no view of the end.
  const hasTransactions = isEnd ? views.some(({ type }) => type === 'transactions') : selection.transactions.length > 0;
  for (const [type, { rank }] of shown) {
    if (rank >= ranks.unended || rank > rankOf(snapshot) || !viewer.wish.types.has(type)) continue;
    if (type === 'transactions' && !hasTransactions) return true;
    if (type === 'actions' && rendering.actions(selection, viewer) === undefined) return true;
  }
  return false;
}

/** Parts of a snapshot that concern a connection. */
type Matched = { readonly selection: Selection; readonly viewer: Viewer; readonly views: readonly TraceView[] };

type Remembered = Pick<TraceEntry, 'accounts' | 'hash'> & { readonly news: readonly TraceView[] };

function remember(
  to: Subscriber,
  { key }: TraceSnapshot,
  { news, accounts, hash }: Remembered,
  before: TraceEntry | undefined,
): void {
  const shown = new Map(before?.shown);
  for (const view of news) shown.set(view.type, view.shown);
  if (shown.size === 0 || !to.isWatching()) return;
  // A snapshot of a lower level may match no account. A withdrawal then goes by the accounts of earlier snapshots.
  const all = [...new Set([...accounts, ...(before?.accounts ?? [])])];
  to.memory.put(key, { shown, accounts: all.slice(0, ENTRY_ACCOUNTS_MAX), hash: hash ?? before?.hash });
}

function sendInvalidation(
  to: Subscriber,
  { key, position, mark }: Pick<TraceSnapshot, 'key' | 'position'> & Pick<Sending, 'mark'>,
  reason: string,
): void {
  const sending: Sending = {
    type: 'trace_invalidated',
    finality: 'none',
    position: position === null ? null : positionOf(position, steps.unmatched),
    mark,
    slot: null,
  };
  if (!to.isPast(sending)) to.send(renderInvalidation(key, reason), sending);
}

/** @param ended record whose last view this is */
function sendView(to: Subscriber, { events, slot, isPortion }: TraceView, ended: number | null): void {
  if (!isPortion) to.queue.supersede(slot);
  // The last of many parts have one position.
  const next = events.filter(({ sending }) => !to.isPast(sending));
  for (const one of next) {
    const isLast = ended !== null && one === next.at(-1);
    to.send(one.event, isLast ? { ...one.sending, mark: markOf(ended, steps.last) } : one.sending);
  }
}
