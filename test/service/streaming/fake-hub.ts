import type { Begun, Hub, Sink, Subscription } from '#service/streaming/changes.ts';
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
  /** Runs before a subscription begins: it may reject, wait, or begin otherwise. */
  onSubscribe: (cursor: string | undefined, connection: FakeConnection) => Promise<Partial<Begun> | void> | void;
};

/** A hub that sends the events of a test. Subscriptions begin at once. */
export function createFakeHub(cursors: Cursors): FakeHub {
  const connections: FakeConnection[] = [];
  const hub: FakeHub = {
    connections,
    last: () => connections.at(-1)!,
    onSubscribe: () => undefined,
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
          sink.event(JSON.stringify(event), cursor());
        },
      };
      connections.push(connection);
      return {
        async subscribe(wish, from, answer) {
          const begun = await hub.onSubscribe(from, connection);
          connection.wish = wish;
          connection.resumedFrom = from;
          answer({ cursor: cursor(), resumed: from === undefined ? null : 'full', gap: null, ...begun });
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
