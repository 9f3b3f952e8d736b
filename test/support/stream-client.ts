import { setTimeout as sleep } from 'node:timers/promises';

import { printOf } from './json-print.ts';
import { createStreamLevels, type StreamLevels } from './stream-levels.ts';
import { readSse, readWebSocket, type StreamFrame, type StreamReader } from './stream-readers.ts';

/** A transaction, an action or a state in an event. */
export type EventPart = {
  /** Accounts by which a subscription matches it, as `workchain:HEX`. */
  readonly accounts: readonly string[];
  /** Print of its JSON. */
  readonly print: string;
};

/** A final event, as far as it is compared. */
export type FinalRecord = {
  readonly type: string;
  readonly cursor: string;
  /** Key of its trace; empty for a state. */
  readonly trace: string;
  readonly parts: readonly EventPart[];
};

/** Answer to a cursor. */
export type ResumeAnswer = {
  readonly answer: unknown;
  /** URL of the pod that gave the cursor. */
  readonly former: string;
  /** Milliseconds of `performance.now()`. */
  readonly atMs: number;
};

/** A caller that comes back with its cursor each time that its stream ends. */
export type StreamClient = {
  readonly records: readonly FinalRecord[];
  /** Answers to its cursors. */
  readonly resumed: readonly ResumeAnswer[];
  readonly levels: Pick<StreamLevels, 'faults' | 'open'>;
  /** Levels of all its events. */
  readonly seen: ReadonlySet<string>;
  readonly minFinality: string;
  /** True while a connection has its answer. */
  readonly isOpen: () => boolean;
  /** Ends its connection; the client comes back. */
  readonly cut: () => void;
  /** Stops reading, or reads on. */
  readonly pause: (isPaused: boolean) => void;
  readonly close: () => Promise<void>;
};

export type StreamClientOptions = {
  readonly transport: 'sse' | 'ws';
  readonly types: readonly string[];
  readonly addresses: readonly string[];
  readonly minFinality?: 'pending' | 'confirmed' | 'finalized';
  /** Base URL of a pod, for each connection. */
  readonly url: () => string;
};

/** Milliseconds after which a client comes back. */
const BACK_MS = 50;

const headers = { 'content-type': 'application/json' };

export function createStreamClient(options: StreamClientOptions): StreamClient {
  const { transport, types, addresses, minFinality = 'finalized', url } = options;
  const records: FinalRecord[] = [];
  const resumed: ResumeAnswer[] = [];
  const levels = createStreamLevels();
  const seen = new Set<string>();
  const over = new AbortController();
  let cursor: string | undefined;
  /** Pod of the newest cursor, and pod of the connection. */
  let former = '';
  let pod = '';
  let reader: StreamReader | undefined;
  let isOpen = false;
  let isResume = false;

  function answered(frame: StreamFrame): void {
    isOpen = true;
    if (!isResume || frame['resumed'] !== 'full') levels.connect();
    if (isResume) resumed.push({ answer: frame['resumed'], former, atMs: performance.now() });
  }

  function take(frame: StreamFrame): void {
    if (typeof frame['cursor'] === 'string') cursor = frame['cursor'];
    if (frame['status'] === 'subscribed') answered(frame);
    if (typeof frame['cursor'] === 'string') former = pod;
    if (frame['status'] === 'subscribed') return;
    // A refusal of WebSocket leaves the connection open.
    if (typeof frame['type'] !== 'string') return void (frame['code'] === undefined && reader?.close());
    levels.take(frame);
    if (typeof frame['finality'] === 'string') seen.add(frame['finality']);
    if (frame['finality'] === 'finalized' && frame['correction'] !== true) records.push(recordOf(frame));
  }

  async function open(): Promise<StreamReader> {
    const wish = { types, addresses, min_finality: minFinality, cursor };
    isResume = cursor !== undefined;
    pod = url();
    const base = `${pod}/api/streaming/v2`;
    if (transport === 'sse')
      return readSse(`${base}/sse`, { method: 'POST', headers, body: JSON.stringify(wish) }, take);
    const socket = await readWebSocket(`${base}/ws`, {}, take);
    socket.send({ operation: 'subscribe', ...wish });
    return socket;
  }

  async function run(): Promise<void> {
    while (!over.signal.aborted) {
      reader = await open().catch(() => undefined);
      if (over.signal.aborted) reader?.close();
      await reader?.ended;
      isOpen = false;
      reader = undefined;
      await sleep(BACK_MS);
    }
  }

  const ended = run();
  return {
    records,
    resumed,
    levels,
    seen,
    minFinality,
    isOpen: () => isOpen,
    cut: () => reader?.close(),
    pause: (isPaused) => reader?.pause(isPaused),
    async close() {
      over.abort();
      reader?.close();
      await ended;
    },
  };
}

function recordOf(frame: StreamFrame): FinalRecord {
  const trace = (frame['trace_external_hash_norm'] ?? '') as string;
  return { type: frame['type'] as string, cursor: frame['cursor'] as string, trace, parts: partsOf(frame) };
}

type Listed = { readonly account: string; readonly accounts: readonly string[] };

function partsOf({ type, transactions, actions, account, state }: StreamFrame): readonly EventPart[] {
  if (type === 'transactions')
    return (transactions as readonly Listed[]).map((one) => ({ accounts: [one.account], print: printOf(one) }));
  if (type === 'actions')
    return (actions as readonly Listed[]).map((one) => ({ accounts: one.accounts, print: printOf(one) }));
  return [{ accounts: [account as string], print: printOf(state) }];
}
