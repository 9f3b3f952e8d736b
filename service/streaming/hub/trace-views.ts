import type { StreamTransaction, TraceSnapshot } from '../changes.ts';
import { markOf, positionOf, steps } from './positions.ts';
import type { RenderedEvent, RenderedView, TraceRendering } from './render.ts';
import type { Sending } from './subscriber.ts';
import { ranks, traceTypes, type Shown, type TraceType } from './trace-memory.ts';
import type { Selection, TraceAccounts } from './trace-selection.ts';
import type { Viewer } from './viewer.ts';

/** A view of a snapshot, ready to be sent to all connections that see the same. */
export type TraceView = {
  readonly type: TraceType;
  readonly shown: Shown;
  /** The view has transactions that no earlier one had: it is no snapshot, and always news. */
  readonly isPortion: boolean;
  /** Name of the view in the queue of a connection. */
  readonly slot: string;
  /** The event, or its parts. */
  readonly events: readonly { readonly event: RenderedEvent; readonly sending: Sending }[];
};

/** A snapshot and its views. Each distinct view is made once. */
export type RenderableTrace = {
  readonly snapshot: TraceSnapshot;
  /** Number of the snapshot in the log of levels; null for a snapshot that is not there. */
  readonly record: number | null;
  readonly accounts: TraceAccounts;
  readonly rendering: TraceRendering;
  /** The views of a connection, in their order. @param isNamed the connection subscribed to the trace by its hash */
  readonly viewsFor: (viewer: Viewer, selection: Selection, isNamed: boolean) => readonly TraceView[];
};

type Parts = Pick<RenderableTrace, 'snapshot' | 'record' | 'accounts' | 'rendering'>;

/** @param isCurrent the snapshot is what is known now, for a connection that has just begun: `trace` alone, at no new position */
export function createRenderableTrace(parts: Parts, isCurrent: boolean): RenderableTrace {
  const known = { named: new Map<Selection, Views>(), matched: new Map<Selection, Views>() };
  const types = isCurrent ? (['trace'] as const) : traceTypes;
  return {
    ...parts,
    viewsFor(viewer, selection, isNamed) {
      const bySelection = isNamed ? known.named : known.matched;
      const views = bySelection.get(selection) ?? new Map<string, readonly TraceView[]>();
      bySelection.set(selection, views);
      const there = views.get(viewer.viewName);
      if (there !== undefined) return there;
      const made = types.flatMap((type) => viewOf(type, parts, { selection, isNamed, viewer, isCurrent }) ?? []);
      views.set(viewer.viewName, made);
      return made;
    },
  };
}

/** Views by the names of viewers. */
type Views = Map<string, readonly TraceView[]>;

type Seen = {
  readonly selection: Selection;
  readonly isNamed: boolean;
  readonly viewer: Viewer;
  readonly isCurrent: boolean;
};

function viewOf(type: TraceType, parts: Parts, seen: Seen): TraceView | undefined {
  const { snapshot, rendering } = parts;
  const { selection, isNamed, viewer, isCurrent } = seen;
  if (!viewer.wish.types.has(type)) return undefined;
  if (type === 'transactions') return transactionsOf(parts, selection, viewer);
  const { stage } = snapshot;
  if (stage === 'open' || stage === 'next') return undefined;
  const of = { type, isPortion: false, isCurrent };
  if (type === 'trace') return isNamed ? sendable(parts, rendering.trace(viewer), of) : undefined;
  const view = rendering.actions(selection, viewer);
  return view && sendable(parts, view, of);
}

function transactionsOf(parts: Parts, selection: Selection, viewer: Viewer): TraceView | undefined {
  const { snapshot, rendering } = parts;
  const { stage, fresh, transactions, finality } = snapshot;
  const isSingle = viewer.wish.finalityScope === 'transaction';
  const isByTransaction = isSingle && finality === 'finalized';
  if (stage === 'open' && !isByTransaction) return undefined;
  const isFresh = fresh !== undefined && (isByTransaction || stage === 'last');
  const isOwn = isSingle && !isByTransaction;
  // A view is made when it is first read.
  const isChosen = (one: StreamTransaction): boolean =>
    (!isFresh || fresh.has(one.hash)) && (!isOwn || levelOf(one) === finality);
  const chosen = selection.transactions.filter((at) => isChosen(transactions[at]!));
  if (chosen.length === 0) return undefined;
  const isPortion = isByTransaction || stage === 'next' || stage === 'last';
  const name = isFresh ? `fresh ${selection.name}` : isOwn ? `own ${selection.name}` : selection.name;
  const view = rendering.transactions(name, chosen, viewer, snapshot.isIncomplete && !isByTransaction);
  return sendable(parts, view, { type: 'transactions', isPortion, isCurrent: false });
}

/** Level of one transaction, which may be above that of its trace. */
function levelOf({ view }: { readonly view: { readonly finality?: unknown } }): unknown {
  return view.finality;
}

function sendable(
  { snapshot, record }: Parts,
  { print, events }: RenderedView,
  {
    type,
    isPortion,
    isCurrent,
  }: { readonly type: TraceType; readonly isPortion: boolean; readonly isCurrent: boolean },
): TraceView {
  const { key, finality, position } = snapshot;
  const slot = `${type}:${key}`;
  const sendingOf = (part: number): Sending => ({
    type,
    finality,
    position: position === null || isCurrent ? null : positionOf(position, stepOf(type, part)),
    mark: record === null ? null : markOf(record, stepOf(type, part)),
    slot: finality === 'finalized' ? null : slot,
  });
  return {
    type,
    shown: { rank: rankOf(snapshot), print, position },
    isPortion,
    slot,
    events: events.map((event, part) => ({ event, sending: sendingOf(part) })),
  };
}

function stepOf(type: TraceType, part: number): number {
  if (type === 'transactions') return Math.min(steps.part + part, steps.partsEnd);
  return type === 'actions' ? steps.actions : steps.last;
}

/** Rank of the level that a snapshot shows. */
export function rankOf({ finality, stage }: TraceSnapshot): number {
  if (finality !== 'finalized') return ranks[finality];
  return stage === undefined || stage === 'last' ? ranks.finalized : ranks.unended;
}
