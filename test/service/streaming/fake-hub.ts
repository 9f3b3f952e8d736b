import type { Begun, Hub, Sink, Subscription } from '#service/streaming/changes.ts';
import { eventText } from '#service/streaming/event-text.ts';
import type { Cursors } from '#service/streaming/request/cursor.ts';

/** A connection at the fake hub, with what the transport asked of it. */
export type FakeConnection = {
  readonly sink: Sink;
  readonly keyId: string;
  readonly number: number;
  /** Newest subscription. */
  wish: Subscription | undefined;
  /** Cursor of the newest subscription. */
  resumedFrom: string | undefined;
  removed: { readonly accounts: ReadonlySet<string>; readonly traces: ReadonlySet<string> } | undefined;
  drains: number;
  isClosed: boolean;
  /** Writes an event, one block after the last. */
  readonly emit: (event: object) => void;
};

export type FakeHub = Hub & {
  readonly connections: readonly FakeConnection[];
  readonly last: () => FakeConnection;
  /** Forgets its connections. */
  readonly forget: () => void;
  /** Runs before a subscription begins: it may reject, wait, or begin otherwise. */
  onSubscribe: (cursor: string | undefined, connection: FakeConnection) => Promise<Partial<Begun> | void> | void;
  /** Runs in the turn in which a subscription has begun. */
  onBegun: (connection: FakeConnection) => void;
};

/** An event of the contract for transports. @param digits of its balance, for events of any size */
export function stateEvent(digits = 1) {
  const state = {
    hash: 'kK7Illr6uxbrw8ubQI665xthjXh4i8gNCYQ1k8rJjaQ=',
    balance: '1'.repeat(digits),
    extra_currencies: {},
    account_status: 'nonexist',
    frozen_hash: null,
    data_hash: null,
    code_hash: null,
    last_transaction_lt: '7',
    last_transaction_hash: null,
  };
  const account = '0:83DFD552E63729B472FCBCC8C45EBCC6691702558B68EC7527E1BA403A0F31A8';
  return { type: 'account_state_change', finality: 'finalized', account, state };
}

/** A hub that sends the events of a test. Subscriptions begin at once. */
export function createFakeHub(cursors: Cursors): FakeHub {
  const connections: FakeConnection[] = [];
  const hub: FakeHub = {
    connections,
    last: () => connections.at(-1)!,
    forget: () => void connections.splice(0),
    onSubscribe: () => undefined,
    onBegun: () => undefined,
    open(sink, { keyId }) {
      const number = connections.length + 1;
      let mcSeqno = 100;
      const cursor = (): string => cursors.write({ position: { mcSeqno, index: 0 }, connection: number });
      const connection: FakeConnection = {
        sink,
        keyId,
        number,
        wish: undefined,
        resumedFrom: undefined,
        removed: undefined,
        drains: 0,
        isClosed: false,
        emit(event) {
          mcSeqno++;
          sink.event(eventText(JSON.stringify(event)), cursor());
        },
      };
      connections.push(connection);
      return {
        async subscribe(wish, from, answer) {
          const begun = await hub.onSubscribe(from, connection);
          connection.wish = wish;
          connection.resumedFrom = from;
          answer({ cursor: cursor(), resumed: from === undefined ? null : 'full', gap: null, ...begun });
          hub.onBegun(connection);
        },
        unsubscribe: (accounts, traces) => void (connection.removed = { accounts, traces }),
        cursor,
        drain: () => void connection.drains++,
        close: () => void (connection.isClosed = true),
      };
    },
    publish: () => Promise.resolve(),
    status: () => ({ connections: connections.filter(({ isClosed }) => !isClosed).length, queueBytes: 0 }),
    close: () => Promise.resolve(),
  };
  return hub;
}
