import { pino } from 'pino';
import { Registry } from 'prom-client';

import {
  WHOLE_BLOCK,
  type AccountKey,
  type Begun,
  type Change,
  type EventText,
  type FinalLog,
  type HubConnection,
  type Labels,
  type StateChange,
  type StreamAction,
  type StreamTransaction,
  type Subscription,
  type TraceSnapshot,
} from '#service/streaming/changes.ts';
import { createHub, type HubDependencies, type HubOptions, type WatchedHub } from '#service/streaming/hub.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import { checkScriptedFrame } from '#test/support/stream-contract.ts';
import { stateEvent } from '../fake-hub.ts';

/** An event as its caller gets it. */
export type Received = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly cursor: string;
  readonly finality?: string;
  readonly trace_external_hash_norm?: string;
};

/** A caller, with what it got. */
export type Caller = {
  readonly connection: HubConnection;
  readonly events: readonly Received[];
  readonly begun: readonly Begun[];
  /** Answers and events in their order. */
  readonly frames: readonly (Received | Begun)[];
  readonly ended: () => { readonly code: number; readonly reason: string; readonly cursor: string | null } | undefined;
  readonly subscribe: (wish: Partial<Subscription>, cursor?: string) => Promise<void>;
  /** Stops reading, or reads again all that waits. */
  readonly stall: (isStalled: boolean) => void;
  /** Called when an event has come. */
  onEvent: () => void;
};

/** Blocks that the index has. */
export type ScriptedLog = FinalLog & {
  /** Adds a block without a publication. */
  readonly add: (changes: readonly Change[]) => number;
  readonly state: { oldest: number; isAway: boolean; reads: number };
  readonly found: Map<string, TraceSnapshot>;
};

export type HubUnderTest = {
  readonly hub: WatchedHub;
  readonly log: ScriptedLog;
  readonly clock: { nowMs: number };
  readonly register: Registry;
  readonly open: (keyId?: string) => Caller;
  /** Makes a block of changes: they get its positions. */
  readonly block: (...changes: readonly Change[]) => Promise<void>;
};

const cursors = createCursors('test');

export function createScriptedLog(): ScriptedLog {
  const blocks: (readonly Change[])[] = [];
  const state = { oldest: 1, isAway: false, reads: 0 };
  const found = new Map<string, TraceSnapshot>();
  return {
    state,
    found,
    add(changes) {
      const mcSeqno = blocks.length + 1;
      const placed = changes.map((change, index) =>
        change.kind === 'invalidation' ? change : { ...change, position: { mcSeqno, index } },
      );
      blocks.push(placed);
      return mcSeqno;
    },
    newest: () => (blocks.length === 0 ? null : { mcSeqno: blocks.length, index: WHOLE_BLOCK }),
    async changesOf(mcSeqno) {
      state.reads++;
      if (state.isAway) throw new Error('the index is away');
      return blocks[mcSeqno - 1] ?? [];
    },
    oldest: async () => (blocks.length === 0 ? null : state.oldest),
    findTrace: async (name) => found.get(name),
  };
}

/** A new state of account A. */
export function stateAt(lt: number, finality: StateChange['finality']): StateChange {
  const state = { ...stateEvent().state, last_transaction_lt: String(lt) };
  return { kind: 'state', account: account('A'), finality, position: null, state };
}

export const noLabels: Labels = { addressBook: async () => ({}), metadata: async () => ({}) };

export function createHubUnderTest(
  over: Partial<HubDependencies> & HubOptions & { readonly log?: ScriptedLog } = {},
): HubUnderTest {
  const log = over.log ?? createScriptedLog();
  const clock = { nowMs: 0 };
  const register = new Registry();
  const hub = createHub(over, {
    log,
    labels: noLabels,
    cursors,
    clock: { nowMs: () => clock.nowMs, unixMs: () => clock.nowMs },
    logger: pino({ level: 'silent' }),
    register,
    random: () => 0,
    ...over,
  });
  return {
    hub,
    log,
    clock,
    register,
    open: (keyId = 'key') => openCaller(hub, keyId),
    async block(...changes) {
      const mcSeqno = log.add(changes);
      await hub.publish(await log.changesOf(mcSeqno, new AbortController().signal));
    },
  };
}

/** Events by their texts: connections that see the same share the text. */
const readEvents = new WeakMap<EventText, Received>();

function readEvent(text: EventText): Received {
  const known = readEvents.get(text);
  if (known !== undefined) return known;
  const event = JSON.parse(text.json) as Received;
  readEvents.set(text, event);
  return event;
}

function openCaller(hub: WatchedHub, keyId: string): Caller {
  const frames: (Received | Begun)[] = [];
  const events: Received[] = [];
  const begun: Begun[] = [];
  let isStalled = false;
  let unsent = 0;
  let ended: ReturnType<Caller['ended']>;
  const connection = hub.open(
    {
      unsentBytes: () => unsent,
      event(text, cursor) {
        const event = { ...readEvent(text), cursor };
        checkScriptedFrame(event);
        events.push(event);
        frames.push(event);
        if (isStalled) unsent += text.json.length;
        caller.onEvent();
      },
      end(code, reason, cursor) {
        ended = { code, reason, cursor };
        connection.close();
      },
    },
    { keyId },
  );
  const caller: Caller = {
    connection,
    events,
    onEvent: () => undefined,
    begun,
    frames,
    ended: () => ended,
    subscribe: (wish, cursor) =>
      connection.subscribe(wishOf(wish), cursor, (one) => {
        begun.push(one);
        frames.push(one);
      }),
    stall(is) {
      isStalled = is;
      if (is) return;
      unsent = 0;
      connection.drain();
    },
  };
  return caller;
}

export function wishOf(wish: Partial<Subscription>): Subscription {
  return {
    types: new Set(['transactions']),
    accounts: new Set(),
    traces: new Set(),
    minFinality: 'finalized',
    finalityScope: 'trace',
    includeAddressBook: false,
    includeMetadata: false,
    actionTypes: null,
    supportedActionTypes: new Set(['transfer']),
    ...wish,
  };
}

/** Key of an account by a letter. */
export function account(letter: string): AccountKey {
  return `0:${letter.repeat(64)}`;
}

/** Hash in hex by a number. */
export function hash(number: number): string {
  return number.toString(16).padStart(64, '0');
}

export function base64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

export function transaction(name: string, of: AccountKey, extra: object = {}): StreamTransaction {
  return { account: of, hash: name, view: { account: of, hash: name, ...extra }, named: [of] };
}

export function action(type: string, accounts: readonly AccountKey[], name = type): StreamAction {
  const view = { type, action_id: name, accounts };
  const viewFor = (supported: ReadonlySet<string>): object | null => (supported.has(type) ? view : null);
  return { type, ancestorTypes: [], accounts, named: accounts, viewFor };
}

export function trace(key: string, over: Partial<TraceSnapshot> = {}): TraceSnapshot {
  return {
    kind: 'trace',
    key,
    finality: 'finalized',
    position: null,
    hashes: [key],
    transactions: [],
    actions: [],
    tree: { tx_hash: 'root', children: [] },
    isIncomplete: false,
    traceId: null,
    ...over,
  };
}
