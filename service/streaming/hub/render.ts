import { createHash } from 'node:crypto';

import type { TimeSlice } from '#service/runtime/time-slice.ts';
import {
  CONTENT_BYTES_MAX,
  type AccountKey,
  type EventText,
  type JettonChange,
  type StateChange,
  type StreamAction,
  type TraceSnapshot,
} from '../changes.ts';
import { eventText, lineOf } from '../event-text.ts';
import type { LabelTexts, LabelWish } from './label-texts.ts';
import type { Selection } from './trace-selection.ts';
import type { Viewer } from './viewer.ts';

/** Event as text, without its cursor. */
export type RenderedEvent = EventText & { readonly bytes: number };

/** Events of one type for all connections that see the same. */
export type RenderedView = {
  /** Equal for views of equal content; undefined for final ones, which are never compared. */
  readonly print: string | undefined;
  /** The event, or its parts. */
  readonly events: readonly RenderedEvent[];
};

/** Texts of one snapshot. Each distinct view becomes text once. */
export type TraceRendering = {
  /** @param name of the selected transactions within the snapshot; @param chosen their ordinals, not empty */
  readonly transactions: (
    name: string,
    chosen: readonly number[],
    viewer: Viewer,
    isIncomplete: boolean,
  ) => RenderedView;
  /** Undefined when the filters leave no action. */
  readonly actions: (selection: Selection, viewer: Viewer) => RenderedView | undefined;
  readonly trace: (viewer: Viewer) => RenderedView;
};

type Text = { readonly text: string; readonly bytes: number; readonly named: readonly AccountKey[] };

type ShownActions = { readonly texts: readonly Text[]; readonly isCut: boolean };

/**
 * @param labels of all accounts that the snapshot names
 * @param onMade called with the bytes of each event that is made
 */
export function createTraceRendering(
  snapshot: TraceSnapshot,
  labels: LabelTexts,
  onMade: (bytes: number) => void = () => undefined,
): TraceRendering {
  const isFinal = snapshot.finality === 'finalized';
  const views = new Map<string, RenderedView | undefined>();
  const transactionTexts: (Text | undefined)[] = [];
  const actionTexts = new Map<object, Text>();
  const all = snapshot.actions.map((_, at) => at);

  const transactionText = (at: number): Text => (transactionTexts[at] ??= writeTransaction(snapshot, at));

  function once(name: string, viewer: Viewer, make: () => RenderedView | undefined): RenderedView | undefined {
    const { includeAddressBook, includeMetadata } = viewer.wish;
    const key = `${name} ${includeAddressBook} ${includeMetadata}`;
    if (!views.has(key)) views.set(key, make());
    return views.get(key);
  }

  function actionText(action: StreamAction, { wish }: Viewer): Text | undefined {
    const view: { readonly type?: unknown } | null = action.viewFor(wish.supportedActionTypes);
    if (view === null) return undefined;
    const { actionTypes } = wish;
    const isAsked = actionTypes === null || actionTypes.has(action.type) || actionTypes.has(String(view.type));
    if (!isAsked) return undefined;
    const known = actionTexts.get(view) ?? textOf(view, action.named);
    actionTexts.set(view, known);
    return known;
  }

  /** Actions that pass the filters, as many as an event may have. @param used bytes of the event's other content */
  function shownActions(chosen: readonly number[], viewer: Viewer, used = 0): ShownActions {
    const texts = chosen.flatMap((at) => actionText(snapshot.actions[at]!, viewer) ?? []);
    let bytes = used;
    const kept = texts.filter((one) => (bytes += one.bytes) <= CONTENT_BYTES_MAX);
    return { texts: kept, isCut: kept.length < texts.length };
  }

  function finish(body: string, texts: readonly Text[], { wish }: Viewer, type: string, marks = ''): RenderedEvent {
    const head = `{"type":"${type}",${headOf(snapshot)},`;
    const event = eventOf(`${head}${body}${marks}${labels.of(namedIn(texts), wish)}}`);
    onMade(event.bytes);
    return event;
  }

  return {
    transactions(name, chosen, viewer, isIncomplete) {
      const view = once(`transactions ${name} ${isIncomplete}`, viewer, () => {
        const parts = split(chosen.map(transactionText));
        const bodies = parts.map((texts) => `"transactions":[${joined(texts)}]`);
        const events = parts.map((texts, at) => {
          const share = parts.length === 1 ? '' : `,"part":${at + 1},"parts":${parts.length}`;
          const isCut = texts.some(({ text }) => text.startsWith(CUT_MARK));
          return finish(bodies[at]!, texts, viewer, 'transactions', share + incomplete(isIncomplete || isCut));
        });
        return { print: isFinal ? undefined : printOf([...bodies, incomplete(isIncomplete)]), events };
      });
      return view!;
    },
    actions: (selection, viewer) =>
      once(`actions ${selection.name} ${viewer.filterName}`, viewer, () => {
        const { texts, isCut } = shownActions(selection.actions, viewer);
        if (texts.length === 0) return undefined;
        const body = `"actions":[${joined(texts)}]`;
        const marks = incomplete(snapshot.isIncomplete || isCut);
        return {
          print: isFinal ? undefined : printOf([body, marks]),
          events: [finish(body, texts, viewer, 'actions', marks)],
        };
      }),
    trace(viewer) {
      const view = once(`trace ${viewer.filterName}`, viewer, () => {
        const content = writeTree(snapshot, transactionText);
        const { texts: ofActions, isCut } = shownActions(all, viewer, content.bytes);
        const actions = ofActions.length === 0 ? '' : `,"actions":[${joined(ofActions)}]`;
        const body = `${content.body}${actions}`;
        const marks = incomplete(snapshot.isIncomplete || isCut || content.isCut);
        const event = finish(body, [...content.texts, ...ofActions], viewer, 'trace', marks);
        return { print: isFinal ? undefined : printOf([body, marks]), events: [event] };
      });
      return view!;
    },
  };
}

/** Accounts that the events of a change may name. */
export async function namedBy(snapshot: TraceSnapshot, slice: TimeSlice): Promise<ReadonlySet<AccountKey>> {
  const named = new Set<AccountKey>();
  for (const one of [...snapshot.transactions, ...snapshot.actions]) {
    for (const account of one.named) named.add(account);
    await slice.pause();
  }
  return named;
}

/** The event of a state. */
export function renderState({ account, finality, state, isCorrection: correction }: StateChange): RenderedEvent {
  return eventOf(JSON.stringify({ type: 'account_state_change', finality, account, state, correction }));
}

/** The event of a jetton wallet. The wallet's own token is the event itself, so metadata have its owner and its master alone. */
export function renderJetton(
  { finality, jetton, named, isCorrection: correction }: JettonChange,
  labels: LabelTexts,
  wish: LabelWish,
): RenderedEvent {
  const text = JSON.stringify({ type: 'jettons_change', finality, jetton, correction });
  return eventOf(`${text.slice(0, -1)}${labels.of(named, wish, named.slice(1))}}`);
}

/** @param key of the trace in hex */
export function renderInvalidation(key: string, reason: string): RenderedEvent {
  return eventOf(JSON.stringify({ type: 'trace_invalidated', trace_external_hash_norm: base64Of(key), reason }));
}

function incomplete(is: boolean): string {
  return is ? ',"is_incomplete":true' : '';
}

function headOf({ key, finality, traceId }: TraceSnapshot): string {
  const head = `"finality":"${finality}","trace_external_hash_norm":"${base64Of(key)}"`;
  return traceId === null ? head : `${head},"trace_id":${JSON.stringify(traceId)}`;
}

function base64Of(key: string): string {
  return Buffer.from(key, 'hex').toString('base64');
}

function textOf(view: object, named: readonly AccountKey[]): Text {
  const text = lineOf(view);
  return { text, bytes: Buffer.byteLength(text), named };
}

/** First field of a transaction whose messages are left out: v3 begins with another field. */
const CUT_MARK = '{"in_msg":null,"out_msgs":[],';

/** A transaction above the size of an event loses its messages. */
function writeTransaction(snapshot: TraceSnapshot, at: number): Text {
  const { view, named } = snapshot.transactions[at]!;
  const whole = textOf(view, named);
  if (whole.bytes <= CONTENT_BYTES_MAX) return whole;
  const { in_msg: _, out_msgs: __, ...rest } = view as Readonly<Record<string, unknown>>;
  return textOf({ in_msg: null, out_msgs: [], ...rest }, named);
}

type TreeText = {
  readonly body: string;
  readonly bytes: number;
  readonly texts: readonly Text[];
  readonly isCut: boolean;
};

/** Tree and transactions of a trace; the root alone when they are larger than an event. */
function writeTree(snapshot: TraceSnapshot, transactionText: (at: number) => Text): TreeText {
  const texts: Text[] = [];
  let bytes = 0;
  for (let at = 0; at < snapshot.transactions.length && bytes <= CONTENT_BYTES_MAX; at++) {
    const one = transactionText(at);
    bytes += one.bytes;
    texts.push(one);
  }
  const tree = bytes <= CONTENT_BYTES_MAX ? treeText(snapshot.tree) : undefined;
  if (tree === undefined || bytes + tree.length > CONTENT_BYTES_MAX) {
    const root = { ...(snapshot.tree as object), children: [] };
    return { body: `"trace":${JSON.stringify(root)},"transactions":{}`, bytes: 0, texts: [], isCut: true };
  }
  const entries = texts.map(({ text }, at) => `${JSON.stringify(snapshot.transactions[at]!.hash)}:${text}`);
  const isCut = texts.some(({ text }) => text.startsWith(CUT_MARK));
  return { body: `"trace":${tree},"transactions":{${entries.join()}}`, bytes: bytes + tree.length, texts, isCut };
}

/** Undefined for a tree that is too deep for the stack. */
function treeText(tree: unknown): string | undefined {
  try {
    return JSON.stringify(tree);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function split(texts: readonly Text[]): readonly (readonly Text[])[] {
  const parts: Text[][] = [];
  let bytes = Infinity;
  for (const one of texts) {
    bytes += one.bytes;
    if (bytes > CONTENT_BYTES_MAX) {
      parts.push([]);
      bytes = one.bytes;
    }
    parts.at(-1)!.push(one);
  }
  return parts;
}

function joined(texts: readonly Text[]): string {
  return texts.map(({ text }) => text).join();
}

function* namedIn(texts: readonly Text[]): Generator<AccountKey> {
  for (const { named } of texts) yield* named;
}

function printOf(bodies: readonly string[]): string {
  const hash = createHash('sha1');
  for (const body of bodies) hash.update(body);
  return hash.digest('base64');
}

function eventOf(json: string): RenderedEvent {
  return { ...eventText(json), bytes: Buffer.byteLength(json) };
}
