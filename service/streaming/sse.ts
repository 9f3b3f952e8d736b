import type { ServerResponse } from 'node:http';

import { createTimeSlice } from '../runtime/time-slice.ts';
import { closings, type Closing } from './closing.ts';
import { StreamingError } from './errors.ts';
import { createSseWriter, type SseWriter } from './event-frames.ts';
import { subscribedAnswer } from './request/answers.ts';
import { readId } from './request/fields.ts';
import { readWish, sseWording } from './request/subscription.ts';
import type { Outlet, Stream, StreamCaller, Streams } from './streams.ts';

/** A request for a stream of server-sent events. */
export type SseRequest = {
  /** Fields of the body, or of the query. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Header `Last-Event-ID`: the cursor of an EventSource that returns. */
  readonly lastEventId: string | undefined;
  /** False: events have no `event:` line, for EventSource of a browser. */
  readonly namesEvents: boolean;
  readonly caller: StreamCaller;
  /** Ends the request before its stream begins. */
  readonly signal: AbortSignal;
  /** Sends the head of the answer and returns the body to write to. Called once, when nothing can be refused any more. */
  readonly begin: () => ServerResponse;
};

export type SseDependencies = {
  readonly streams: Streams;
  readonly nowMs: () => number;
  readonly random: () => number;
};

/** Milliseconds between comments that show a live connection. */
const KEEPALIVE_MS = 15_000;

/** Milliseconds until an EventSource returns. */
const RETRY_MS = 2000;

/** Milliseconds until an EventSource returns after a refusal that passes. */
const RETRY_LATER_MS = 5000;

/** Milliseconds for a caller to read the last words. Then the connection is cut. */
const FAREWELL_MS = 5000;

/** Media type and rules of caches and proxies of a stream. */
export const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/**
 * Serves one stream. Resolves when the stream has begun; rejects when the request is refused.
 * @throws StreamingError with the id of the request
 */
export async function serveSse(request: SseRequest, dependencies: SseDependencies): Promise<void> {
  const id = readId(request.fields, sseWording.request);
  try {
    await serve(request, id, dependencies);
  } catch (error) {
    if (!(error instanceof StreamingError) || id === undefined) throw error;
    throw new StreamingError(error.code, error.message, { id });
  }
}

async function serve(request: SseRequest, id: string | undefined, dependencies: SseDependencies): Promise<void> {
  const { caller, signal, lastEventId } = request;
  const wish = await readWish(request.fields, {
    wording: sseWording,
    terms: caller.terms,
    actionsVersion: caller.actionsVersion,
    slice: createTimeSlice(signal),
  });
  const cursor = lastEventId || wish.cursor;
  const outlet = createOutlet(request.namesEvents, dependencies);
  const stream = dependencies.streams.open(caller, outlet);
  const onAbort = (): void => stream.closed();
  signal.addEventListener('abort', onAbort);
  try {
    await stream.takePlace(cursor);
    signal.throwIfAborted();
    await stream.subscribe(wish.subscription, cursor, (begun) => {
      if (signal.aborted || outlet.isEnded()) return;
      outlet.begin(request.begin(), stream, { answer: subscribedAnswer(id, begun), cursor: begun.cursor });
    });
    signal.throwIfAborted();
    if (outlet.isEnded()) throw new StreamingError('streams_closing', 'the stream ended before it began');
  } catch (error) {
    stream.closed();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

type SseOutlet = Outlet & {
  readonly begin: (
    response: ServerResponse,
    stream: Stream,
    first: { readonly answer: string; readonly cursor: string },
  ) => void;
  /** True when the service ended the stream before its first byte. */
  readonly isEnded: () => boolean;
};

/** The outlet lives as long as the stream, so it refers to nothing of the request. */
function createOutlet(namesEvents: boolean, { nowMs, random }: SseDependencies): SseOutlet {
  const before = namesEvents ? 'event: event\n' : '';
  let response: ServerResponse | undefined;
  let writer: SseWriter | undefined;
  let stream: Stream | undefined;
  let keepaliveMs = 0;
  let isEnded = false;

  const onWritten = (): void => {
    if (response?.writableLength === 0) stream?.drain();
  };
  /** Undefined before the stream and after its end. */
  const openWriter = (): SseWriter | undefined =>
    response?.writableEnded === false && !response.destroyed ? writer : undefined;

  return {
    transport: 'sse',
    begin(begun, opened, { answer, cursor }) {
      stream = opened;
      response = begun;
      response.once('close', () => opened.closed());
      response.on('error', () => response?.destroy());
      keepaliveMs = nowMs() + KEEPALIVE_MS;
      writer = createSseWriter(response, before, onWritten);
      openWriter()?.text(`retry: ${RETRY_MS}\nevent: connected\nid: ${cursor}\ndata: ${answer}\n\n`);
    },
    isEnded: () => isEnded,
    unsentBytes: () => response?.writableLength ?? 0,
    event: (event, cursor) => openWriter()?.event(event, cursor),
    end(closing, cursor) {
      const ended = response;
      isEnded = ended === undefined;
      if (ended === undefined) return;
      const retry = closing.code === closings.goingAway.code ? `retry: ${500 + Math.floor(random() * 4500)}\n` : '';
      ended.end(`${retry}${closeEvent(closing, cursor)}`);
      setTimeout(() => ended.destroy(), FAREWELL_MS).unref();
    },
    tick(now) {
      if (stream === undefined) return now + KEEPALIVE_MS;
      if (now < keepaliveMs) return keepaliveMs;
      keepaliveMs = now + KEEPALIVE_MS;
      openWriter()?.text(`: keepalive\n\nid: ${stream.cursor()}\n\n`);
      return keepaliveMs;
    },
  };
}

/** Body of an answer to an EventSource, which gives up at any status but 200: it returns later. */
export function comeBackLater(reason: string): string {
  return `retry: ${RETRY_LATER_MS}\n${closeEvent({ code: 1013, reason }, null)}`;
}

function closeEvent({ code, reason }: Closing, cursor: string | null): string {
  const data = JSON.stringify({ error: reason, code, ...(cursor !== null && { cursor }) });
  return `event: close\ndata: ${data}\n\n`;
}
