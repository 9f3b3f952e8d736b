import { createTimeSlice, type TimeSlice } from '#service/runtime/time-slice.ts';
import type { AccountKey, Change, Invalidation, JettonChange, Labels, StateChange, TraceSnapshot } from '../changes.ts';
import { deliverInvalidation, deliverTrace, wantsLevel } from './delivery.ts';
import { readLabels, type LabelTexts, type LabelWish } from './label-texts.ts';
import type { LevelsLog } from './levels-log.ts';
import { markOf, positionOf, steps } from './positions.ts';
import { createTraceRendering, namedBy, renderJetton, renderState, type RenderedEvent } from './render.ts';
import { SharedRenderings } from './shared-renderings.ts';
import type { Sending, Subscriber } from './subscriber.ts';
import type { SubscriptionsIndex } from './subscriptions-index.ts';
import { traceTypes } from './trace-memory.ts';
import { accountsOf } from './trace-selection.ts';
import { createRenderableTrace } from './trace-views.ts';
import type { Viewer } from './viewer.ts';

/** Subscribers by what they watch. */
export type Watchers = {
  readonly accounts: SubscriptionsIndex<Subscriber>;
  /** Keys are all hashes of a trace. */
  readonly traces: SubscriptionsIndex<Subscriber>;
  /** Connections that were sent a trace that is not final, by its key. */
  readonly shown: SubscriptionsIndex<Subscriber>;
};

/** Labels of a change that were read before its turn. */
export type EarlyLabels = { readonly wish: LabelWish; readonly texts: LabelTexts };

/** A change, and its number in the log of levels; null for a final change. */
export type Given = { readonly change: Change; readonly record: number | null };

type Deliver = (() => void) | undefined;

/** Makes events of changes. The caller gives one change at a time, and no subscription begins during it. */
export type Distribution = {
  /** Reads the labels that the connections of a change want now. The read may take long, so it is no part of the change's turn. */
  readonly readEarly: (change: Change) => Promise<EarlyLabels | undefined>;
  /** Gives a new change to all connections that match. */
  readonly distribute: (given: Given, early: EarlyLabels | undefined) => Promise<void>;
  /** Connections that were shown a trace need a record of it again when they resume, however old it is. */
  readonly recall: (key: string, record: number) => void;
  /** Gives a change of the past to one connection. */
  readonly replay: (given: Given, to: Subscriber, signal: AbortSignal) => Promise<void>;
  /** Makes the events that show a connection the present state of a trace. The returned function gives them. */
  readonly prepareCurrent: (snapshot: TraceSnapshot, to: Subscriber, signal: AbortSignal) => Promise<Deliver>;
};

export type DistributionDependencies = {
  readonly watchers: Watchers;
  readonly labels: Labels;
  readonly levels: Pick<LevelsLog, 'headsOf'>;
  /** Ends with the hub. */
  readonly signal: AbortSignal;
  /** Called when the events of one connection cannot be made. */
  readonly onFault: (to: Subscriber, error: unknown) => void;
};

const noLabels: LabelWish = { includeAddressBook: false, includeMetadata: false };

/** Ordinals of matching accounts, by connection. */
type Matches = ReadonlyMap<Subscriber, readonly number[]>;

export function createDistribution(dependencies: DistributionDependencies): Distribution {
  const { watchers, labels, levels, signal, onFault } = dependencies;

  /** A fault of one connection is not one of the others. */
  function attempt(to: Subscriber, deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      onFault(to, error);
    }
  }

  async function readLabelsOf(
    change: TraceSnapshot | JettonChange,
    wish: LabelWish,
    slice: TimeSlice,
    ends: AbortSignal,
  ): Promise<LabelTexts> {
    const isLabelled = wish.includeAddressBook || wish.includeMetadata;
    const named = !isLabelled ? [] : change.kind === 'trace' ? await namedBy(change, slice) : change.named;
    return readLabels(labels, named, wish, ends);
  }

  /** A connection that began after the early read may want more. */
  async function labelsOf(
    change: TraceSnapshot | JettonChange,
    to: Iterable<Subscriber>,
    slice: TimeSlice,
    early: EarlyLabels | undefined,
  ): Promise<LabelTexts> {
    const wish = await labelWishOf(to, slice);
    return early !== undefined && covers(early.wish, wish) ? early.texts : readLabelsOf(change, wish, slice, signal);
  }

  async function readEarly(change: Change): Promise<EarlyLabels | undefined> {
    if (change.kind === 'state' || change.kind === 'invalidation') return undefined;
    const slice = createTimeSlice(signal);
    const found = change.kind === 'trace' ? watchersOfTrace(watchers, change) : watchersOfAccounts(watchers, change);
    const wish = await labelWishOf(filterInterested(found, change), slice);
    return { wish, texts: await readLabelsOf(change, wish, slice, signal) };
  }

  async function distributeTrace(
    snapshot: TraceSnapshot,
    record: number | null,
    early: EarlyLabels | undefined,
  ): Promise<void> {
    const slice = createTimeSlice(signal);
    const accounts = accountsOf(snapshot);
    const matches = await matchTrace(watchers, snapshot, accounts.accounts, slice);
    if (matches.size === 0) return;
    const rendering = createTraceRendering(snapshot, await labelsOf(snapshot, matches.keys(), slice, early));
    const one = createRenderableTrace({ snapshot, record, accounts, rendering }, false);
    for (const [to, ordinals] of matches) {
      const rest = slice.pause();
      if (rest !== undefined) await rest;
      attempt(to, () => deliverTrace(to, one, ordinals));
    }
  }

  async function distributeOfAccount(
    change: StateChange | JettonChange,
    record: number | null,
    early: EarlyLabels | undefined,
  ): Promise<void> {
    const slice = createTimeSlice(signal);
    const found = await matchAccounts(watchers, change, slice);
    if (found.size === 0) return;
    const render =
      change.kind === 'state' ? renderOf(change) : renderOnce(change, await labelsOf(change, found, slice, early));
    for (const to of found) {
      const rest = slice.pause();
      if (rest !== undefined) await rest;
      attempt(to, () => deliverOfAccount(to, { change, record }, render));
    }
  }

  async function withdraw(change: Invalidation, record: number | null): Promise<void> {
    const slice = createTimeSlice(signal);
    const heads = levels.headsOf(change.key);
    for (const to of watchers.shown.of(change.key)) {
      const rest = slice.pause();
      if (rest !== undefined) await rest;
      if (!to.isReplayingLevels) deliverInvalidation(to, change, record, heads);
    }
  }

  const shared = new SharedRenderings();

  async function prepareTrace(
    snapshot: TraceSnapshot,
    to: Subscriber,
    record: number | 'current' | null,
    ends: AbortSignal,
  ): Promise<Deliver> {
    const viewer = to.viewer();
    if (viewer === undefined) return undefined;
    const accounts = accountsOf(snapshot);
    const ordinals = accounts.accounts.flatMap((account, at) => (viewer.wish.accounts.has(account) ? at : []));
    const isNamed = snapshot.hashes.some((hash) => viewer.wish.traces.has(hash));
    if (ordinals.length === 0 && !isNamed && to.memory.get(snapshot.key) === undefined) return undefined;
    const isCurrent = record === 'current';
    const place = { snapshot, record: isCurrent ? null : record, accounts };
    // A snapshot that the connection has behind it is only remembered.
    const isPast = place.record !== null && to.isPast({ position: null, mark: markOf(place.record, steps.last) });
    const wish = isPast ? noLabels : viewer.wish;
    const texts = await readLabelsOf(snapshot, wish, createTimeSlice(ends), ends);
    if (ends.aborted) return undefined;
    const { includeAddressBook, includeMetadata } = viewer.wish;
    // Traces that match by several accounts have many views, and few connections see the same.
    const isPlain = snapshot.finality === 'finalized' && !isCurrent && !includeAddressBook && !includeMetadata;
    const one =
      isPlain && ordinals.length === 1
        ? shared.of(snapshot, texts)
        : createRenderableTrace({ ...place, rendering: createTraceRendering(snapshot, texts) }, isCurrent);
    return () => deliverTrace(to, one, ordinals);
  }

  return {
    readEarly,
    async distribute({ change, record }, early) {
      if (change.kind === 'trace') await distributeTrace(change, record, early);
      else if (change.kind === 'invalidation') await withdraw(change, record);
      else await distributeOfAccount(change, record, early);
    },
    recall(key, record) {
      for (const to of watchers.shown.of(key)) to.recall(markOf(record, steps.before));
    },
    async replay({ change, record }, to, ends) {
      if (change.kind === 'invalidation') return deliverInvalidation(to, change, record, levels.headsOf(change.key));
      const wish = to.viewer()?.wish;
      if (wish === undefined) return;
      if (change.kind === 'trace') {
        if (traceTypes.some((type) => wish.types.has(type))) (await prepareTrace(change, to, record, ends))?.();
        return;
      }
      if (!wish.types.has(typeOf(change)) || !accountsOfChange(change).some((account) => wish.accounts.has(account)))
        return;
      const render =
        change.kind === 'state'
          ? renderOf(change)
          : renderOnce(change, await readLabelsOf(change, wish, createTimeSlice(ends), ends));
      if (!ends.aborted) deliverOfAccount(to, { change, record }, render);
    },
    prepareCurrent: (snapshot, to, ends) => prepareTrace(snapshot, to, 'current', ends),
  };
}

/** Finds connections in portions: an account may have thousands. */
async function matchTrace(
  watchers: Watchers,
  snapshot: TraceSnapshot,
  keys: readonly AccountKey[],
  slice: TimeSlice,
): Promise<Matches> {
  const matches = new Map<Subscriber, readonly number[]>();
  for (const [at, key] of keys.entries()) {
    // Most connections match by one account, so they share a list.
    const alone = [at];
    for (const to of watchers.accounts.of(key)) {
      const rest = slice.pause();
      if (rest !== undefined) await rest;
      if (!isInterested(to, snapshot)) continue;
      const there = matches.get(to);
      matches.set(to, there === undefined ? alone : [...there, at]);
    }
  }
  for (const watching of watchersByHash(watchers, snapshot)) {
    for (const to of watching) {
      const rest = slice.pause();
      if (rest !== undefined) await rest;
      if (isInterested(to, snapshot) && !matches.has(to)) matches.set(to, none);
    }
  }
  return matches;
}

const none: readonly never[] = [];

function watchersByHash({ traces, shown }: Watchers, { key, hashes }: TraceSnapshot): Iterable<Subscriber>[] {
  return [...[...new Set([key, ...hashes])].map((hash) => traces.of(hash)), shown.of(key)];
}

/** Connections of a trace, some of them several times. */
function* watchersOfTrace(watchers: Watchers, snapshot: TraceSnapshot): Generator<Subscriber> {
  for (const account of accountsOf(snapshot).accounts) yield* watchers.accounts.of(account);
  for (const watching of watchersByHash(watchers, snapshot)) yield* watching;
}

/** Connections of an account or of the accounts of a jetton wallet, some of them several times. */
function* watchersOfAccounts({ accounts }: Watchers, change: StateChange | JettonChange): Generator<Subscriber> {
  for (const account of accountsOfChange(change)) yield* accounts.of(account);
}

function* filterInterested(found: Iterable<Subscriber>, change: Distributable): Generator<Subscriber> {
  for (const to of found) if (isInterested(to, change)) yield to;
}

/** Finds connections in portions, as for a trace. */
async function matchAccounts(
  watchers: Watchers,
  change: StateChange | JettonChange,
  slice: TimeSlice,
): Promise<ReadonlySet<Subscriber>> {
  const found = new Set<Subscriber>();
  for (const to of watchersOfAccounts(watchers, change)) {
    const rest = slice.pause();
    if (rest !== undefined) await rest;
    if (isInterested(to, change)) found.add(to);
  }
  return found;
}

type Distributable = TraceSnapshot | StateChange | JettonChange;

/** Reports whether a connection takes such changes now. An absent one and one that reads past events get them later. */
function isInterested(to: Subscriber, change: Distributable): boolean {
  const viewer = to.viewer();
  if (viewer === undefined || !to.isWatching() || !wantsLevel(viewer, change.finality)) return false;
  if (change.position === null ? to.isReplayingLevels : to.isReplaying || !to.isOpen()) return false;
  const { types, minFinality } = viewer.wish;
  if (change.kind !== 'trace' && change.isCorrection === true && minFinality === 'finalized') return false;
  if (change.kind === 'trace') return traceTypes.some((type) => types.has(type));
  return types.has(typeOf(change));
}

function typeOf({ kind }: StateChange | JettonChange): 'account_state_change' | 'jettons_change' {
  return kind === 'state' ? 'account_state_change' : 'jettons_change';
}

function accountsOfChange(change: StateChange | JettonChange): readonly AccountKey[] {
  return change.kind === 'state' ? [change.account] : change.accounts;
}

/** Labels that any of the connections asks for. */
async function labelWishOf(connections: Iterable<Subscriber>, slice: TimeSlice): Promise<LabelWish> {
  let [includeAddressBook, includeMetadata] = [false, false];
  for (const to of connections) {
    const rest = slice.pause();
    if (rest !== undefined) await rest;
    const wish = to.viewer()?.wish;
    includeAddressBook ||= wish?.includeAddressBook === true;
    includeMetadata ||= wish?.includeMetadata === true;
    if (includeAddressBook && includeMetadata) break;
  }
  return { includeAddressBook, includeMetadata };
}

/** Reports whether the labels of one wish have all of another. */
function covers(one: LabelWish, other: LabelWish): boolean {
  return (one.includeAddressBook || !other.includeAddressBook) && (one.includeMetadata || !other.includeMetadata);
}

type Render = (wish: LabelWish) => RenderedEvent;

function renderOf(change: StateChange): Render {
  const event = renderState(change);
  return () => event;
}

/** The text of each of the four choices of labels, once. */
function renderOnce(change: JettonChange, labels: LabelTexts): Render {
  const texts = new Map<string, RenderedEvent>();
  return (wish) => {
    const name = `${wish.includeAddressBook} ${wish.includeMetadata}`;
    const event = texts.get(name) ?? renderJetton(change, labels, wish);
    texts.set(name, event);
    return event;
  };
}

type GivenOfAccount = Given & { readonly change: StateChange | JettonChange };

function deliverOfAccount(to: Subscriber, { change, record }: GivenOfAccount, render: Render): void {
  const viewer: Viewer | undefined = to.viewer();
  if (viewer === undefined || !isTaken(viewer, change)) return;
  const sending: Sending = {
    type: typeOf(change),
    finality: change.finality,
    position: change.position && positionOf(change.position, steps.last),
    mark: record === null ? null : markOf(record, steps.last),
    slot: null,
  };
  if (!to.isPast(sending)) to.send(render(viewer.wish), sending);
}

/** The connection may have changed its subscription since the change was matched. */
function isTaken({ wish }: Viewer, change: StateChange | JettonChange): boolean {
  return wish.types.has(typeOf(change)) && accountsOfChange(change).some((account) => wish.accounts.has(account));
}
