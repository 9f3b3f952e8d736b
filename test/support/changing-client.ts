import { setTimeout as sleep } from 'node:timers/promises';

import { printOf } from './json-print.ts';
import { createStreamLevels, type StreamLevels } from './stream-levels.ts';
import { readSse, readWebSocket, type StreamFrame, type StreamReader } from './stream-readers.ts';
import { covers, requestOf, strangeness, type StreamWish } from './stream-wishes.ts';

/** Place in the order of final events, which is one for all pods. */
export type StreamPlace = number;

/** A subscription, and the place behind which it took effect. It ends where the next one begins. */
export type Period = {
  readonly wish: StreamWish;
  readonly from: StreamPlace;
  /** It goes on from a cursor, and is not shown what became final before. */
  readonly isResumed: boolean;
};

/** A final event. */
export type FinalEvent = {
  readonly type: string;
  readonly place: StreamPlace;
  /** Key of its trace; empty for a state. */
  readonly trace: string;
  /** Prints of its objects: transactions, actions, a state, or the trace; name of a change of jettons. */
  readonly prints: readonly string[];
  /** Print of a jetton wallet; empty for others. */
  readonly jetton: string;
  readonly isWhole: boolean;
  /** Filter of actions of its subscription. */
  readonly actionTypes: readonly string[];
};

/** A caller that changes its subscription, over a WebSocket by a message, over SSE by a new connection with its cursor. */
export type ChangingClient = {
  readonly periods: readonly Period[];
  readonly finals: readonly FinalEvent[];
  readonly levels: Pick<StreamLevels, 'faults' | 'open'>;
  /** Events that the subscription of their time has not, refusals, and answers that are none. */
  readonly faults: readonly string[];
  /** Number of events by type and level, and of withdrawals by reason. */
  readonly seen: ReadonlyMap<string, number>;
  /** All events of a trace, each with its subscription: says how a fault came about. */
  readonly story: (trace: string) => string;
  /** True while no answer is awaited. */
  readonly isSettled: () => boolean;
  readonly change: (wish: StreamWish) => void;
  readonly close: () => Promise<void>;
};

export type ChangingClientOptions = {
  readonly transport: 'sse' | 'ws';
  readonly wish: StreamWish;
  /** Base URL of a pod, for each connection. */
  readonly url: () => string;
  /** Reads the place of a cursor. */
  readonly placeOf: (cursor: string) => StreamPlace;
};

/** Milliseconds after which a client comes back. */
const BACK_MS = 50;

const headers = { 'content-type': 'application/json' };

export function createChangingClient({ transport, url, placeOf, ...first }: ChangingClientOptions): ChangingClient {
  const periods: Period[] = [];
  const finals: FinalEvent[] = [];
  const levels = createStreamLevels();
  const faults: string[] = [];
  const seen = new Map<string, number>();
  /** Events of each trace, with the ordinals of their subscriptions. */
  const stories = new Map<string, string[]>();
  const beginnings: string[] = [];
  const over = new AbortController();
  let { wish } = first;
  /** Subscriptions without an answer, in their order. */
  let asked: StreamWish[] = [];
  let cursor: string | undefined;
  let reader: StreamReader | undefined;
  let isResume = false;

  function begin(frame: StreamFrame): void {
    const next = asked.shift();
    if (next === undefined) return void faults.push('an answer to nothing');
    if (isResume && frame['resumed'] === 'none') faults.push('a cursor was not known');
    const isSame = !isResume || frame['resumed'] === 'full';
    const from = placeOf(frame['cursor'] as string);
    periods.push({ wish: next, from, isResumed: isResume });
    const { types, minFinality, finalityScope, actionTypes } = next;
    const shown = [minFinality, finalityScope, types, actionTypes].map(String).join(' ');
    beginnings.push(`${beginnings.length}: resumed ${String(frame['resumed'])} in block ${seqnoOf(from)}, ${shown}`);
    isResume = false;
    if (isSame) levels.change((event) => covers(next, event));
    else levels.connect();
  }

  function take(frame: StreamFrame): void {
    if (typeof frame['cursor'] === 'string') ({ cursor } = frame as { cursor: string });
    if (frame['status'] === 'subscribed') return begin(frame);
    if (typeof frame['type'] !== 'string') {
      // A notice of the end has a code. A refusal of WebSocket leaves the connection open.
      if (frame['code'] !== undefined) return;
      faults.push(String(frame['error']));
      return reader?.close();
    }
    const period = periods.at(-1);
    const fault = period === undefined ? 'an event before the answer' : strangeness(period.wish, frame);
    if (fault !== undefined) faults.push(fault);
    const name = `${frame['type']} ${String(frame['finality'] ?? frame['reason'])}`;
    seen.set(name, (seen.get(name) ?? 0) + 1);
    note(frame, name);
    levels.take(frame, period?.wish.finalityScope === 'transaction' && frame['type'] === 'transactions');
    if (frame['finality'] === 'finalized' && frame['correction'] !== true)
      finals.push(finalOf(frame, period?.wish.actionTypes ?? [], placeOf));
  }

  function note(
    { trace_external_hash_norm: trace, is_incomplete: isIncomplete, cursor: at }: StreamFrame,
    name: string,
  ): void {
    if (typeof trace !== 'string') return;
    const place = typeof at === 'string' ? ` behind block ${seqnoOf(placeOf(at))}` : '';
    const text = `${beginnings.length - 1}: ${name}${isIncomplete === true ? ', incomplete' : ''}${place}`;
    const story = stories.get(trace);
    if (story === undefined) stories.set(trace, [text]);
    else story.push(text);
  }

  function storyOf(trace: string): string {
    const events = stories.get(trace) ?? [];
    const since = Number.parseInt(events[0] ?? '0', 10);
    return [`trace ${trace} over ${transport}`, ...events, ...beginnings.slice(since)].join('\n  ');
  }

  async function open(): Promise<StreamReader> {
    const request = { ...requestOf(wish), cursor };
    isResume = cursor !== undefined;
    asked = [wish];
    const base = `${url()}/api/streaming/v2`;
    if (transport === 'sse')
      return readSse(`${base}/sse`, { method: 'POST', headers, body: JSON.stringify(request) }, take);
    const socket = await readWebSocket(`${base}/ws`, {}, take);
    socket.send({ operation: 'subscribe', ...request });
    return socket;
  }

  async function run(): Promise<void> {
    while (!over.signal.aborted) {
      const opened = wish;
      reader = await open().catch(() => undefined);
      if (over.signal.aborted) reader?.close();
      else if (wish !== opened) apply();
      await reader?.ended;
      reader = undefined;
      await sleep(BACK_MS);
    }
  }

  /** Asks for the newest subscription. */
  function apply(): void {
    if (reader === undefined) return;
    if (transport === 'sse') return reader.close();
    asked.push(wish);
    reader.send({ operation: 'subscribe', ...requestOf(wish) });
  }

  const ended = run();
  return {
    periods,
    finals,
    levels,
    faults,
    seen,
    story: storyOf,
    isSettled: () => reader !== undefined && asked.length === 0 && periods.at(-1)?.wish === wish,
    change(next) {
      wish = next;
      apply();
    },
    async close() {
      over.abort();
      reader?.close();
      await ended;
    },
  };
}

type Jetton = Readonly<Record<string, unknown>>;

function finalOf(
  frame: StreamFrame,
  actionTypes: readonly string[],
  placeOf: (cursor: string) => StreamPlace,
): FinalEvent {
  const { type, cursor, trace_external_hash_norm: trace = '', is_incomplete: isIncomplete = false } = frame;
  const place = placeOf(cursor as string);
  const jetton = type === 'jettons_change' ? (frame['jetton'] as Jetton) : undefined;
  return {
    type: type as string,
    place,
    trace: trace as string,
    prints: jetton === undefined ? printsOf(frame) : [nameOfJettons(jetton['address'] as string, seqnoOf(place))],
    jetton: jetton === undefined ? '' : printOfJetton(jetton),
    isWhole: isIncomplete !== true,
    actionTypes,
  };
}

/** Places of one masterchain block. */
const PLACES = 2 ** 32;

/** @param index place within a masterchain block */
export const placeAt = (seqno: number, index: number): StreamPlace => seqno * PLACES + index;

export const seqnoOf = (place: StreamPlace): number => Math.floor(place / PLACES);

/** Name of the change of a jetton wallet in a masterchain block. */
export const nameOfJettons = (wallet: string, seqno: number): string => `${wallet} in block ${seqno}`;

function printsOf({ type, ...frame }: StreamFrame): readonly string[] {
  if (type === 'transactions' || type === 'actions') return (frame[type] as readonly unknown[]).map(printOf);
  if (type === 'account_state_change') return [printOf([frame['account'], frame['state']])];
  return [printOfTrace(frame as TraceContent)];
}

/** Print of a jetton wallet. `data_hash` stands for its balance, of which v3 has no history. */
export function printOfJetton({ address, owner, jetton, last_transaction_lt, code_hash, data_hash }: Jetton): string {
  return printOf([address, owner, jetton, last_transaction_lt, code_hash, data_hash]);
}

export type TraceContent = {
  readonly trace: unknown;
  readonly transactions: Readonly<Record<string, unknown>>;
  readonly actions?: readonly Readonly<Record<string, unknown>>[];
};

/**
 * Print of a trace. Its actions have an order of their own in v3, and no accounts there.
 * @param actionTypes types of the actions that are printed; none for all
 */
export function printOfTrace(
  { trace, transactions, actions = [] }: TraceContent,
  actionTypes: readonly string[] = [],
): string {
  const shown = Object.keys(transactions).toSorted();
  const chosen = actions.filter(({ type }) => actionTypes.length === 0 || actionTypes.includes(type as string));
  const meant = chosen.map((action) => JSON.stringify({ ...action, accounts: undefined })).toSorted();
  return [trace, shown.map((hash) => transactions[hash]), meant].map(printOf).join();
}
