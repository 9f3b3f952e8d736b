import { once } from 'node:events';

import { WebSocket } from 'ws';

import { checkFrame, checkTaken, checkTakenBody } from './stream-contract.ts';

/** A frame of a stream: an event, an answer, or the notice of an end. */
export type StreamFrame = Readonly<Record<string, unknown>>;

/** A stream that is read to its end in the background. Each frame and each taken message is checked against the contract. */
export type StreamReader = {
  /** Frames in the order in which they came. */
  readonly frames: readonly StreamFrame[];
  /** Frames with a `type`. */
  events(): readonly StreamFrame[];
  /** Resolves to the first frame that fits, at once or when it comes. */
  until(fits: (frame: StreamFrame) => boolean): Promise<StreamFrame>;
  /** Cursor of the newest frame that has one. */
  cursor(): string | undefined;
  /** Sends a message; only over WebSocket. */
  send(message: object): void;
  /** Pings of a WebSocket that were answered; 0 for SSE. */
  pings(): number;
  /** Stops reading, or reads on. */
  pause(isPaused: boolean): void;
  /** Close code of a WebSocket; 0 for SSE. Resolves when the stream has ended. */
  readonly ended: Promise<number>;
  close(): void;
};

/** Takes the frames of a reader, which then stores none. */
export type FrameListener = (frame: StreamFrame) => void;

type Collected = Pick<StreamReader, 'frames' | 'events' | 'until' | 'cursor'> & { push(frame: StreamFrame): void };

function collect(listener: FrameListener | undefined): Collected {
  const frames: StreamFrame[] = [];
  const waiting = new Set<() => void>();
  return {
    frames,
    events: () => frames.filter((frame) => typeof frame['type'] === 'string'),
    push(frame) {
      checkFrame(frame);
      if (listener !== undefined) return listener(frame);
      frames.push(frame);
      for (const look of waiting) look();
    },
    until: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = frames.find((frame) => fits(frame));
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    cursor: () => frames.findLast((frame) => typeof frame['cursor'] === 'string')?.['cursor'] as string | undefined,
  };
}

/** Opens an SSE stream with `fetch` and reads its `data:` lines, as clients do. Rejects when the answer is no stream. */
export async function readSse(url: string, init: RequestInit, listener?: FrameListener): Promise<StreamReader> {
  const ending = new AbortController();
  let paused = Promise.withResolvers<void>();
  paused.resolve();
  const response = await fetch(url, { ...init, signal: ending.signal });
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  if (typeof init.body === 'string') checkTakenBody(JSON.parse(init.body));
  const collected = collect(listener);
  const read = async (): Promise<number> => {
    let rest = '';
    try {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          if (line.startsWith('data:')) collected.push(JSON.parse(line.slice(5)) as StreamFrame);
        }
        await paused.promise;
      }
    } catch {
      // The reader or the network has cut the stream.
    }
    return 0;
  };
  return {
    ...collected,
    ended: read(),
    pings: () => 0,
    send: () => {
      throw new Error('SSE takes no messages');
    },
    pause(isPaused) {
      paused.resolve();
      if (isPaused) paused = Promise.withResolvers<void>();
    },
    close() {
      ending.abort();
      paused.resolve();
    },
  };
}

/** Opens a WebSocket and reads its frames. Rejects when the upgrade is refused. */
export async function readWebSocket(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  listener?: FrameListener,
): Promise<StreamReader> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  const collected = collect(listener);
  /** Messages without an answer, which come in their order. */
  const asked: object[] = [];
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString('utf8')) as StreamFrame;
    if (typeof frame['type'] !== 'string') {
      const message = asked.shift();
      if ('status' in frame) checkTaken(message);
    }
    collected.push(frame);
  });
  let pings = 0;
  socket.on('ping', () => pings++);
  const ended = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)));
  await once(socket, 'open');
  return {
    ...collected,
    ended,
    pings: () => pings,
    send(message) {
      asked.push(message);
      socket.send(JSON.stringify(message));
    },
    pause: (isPaused) => (isPaused ? socket.pause() : socket.resume()),
    close() {
      socket.terminate();
      socket.resume();
    },
  };
}
