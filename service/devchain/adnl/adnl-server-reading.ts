import type { Socket } from 'node:net';
import type { Trickle } from './adnl-faults.ts';

/** Input of one connection. The socket is read while the connection has room, and slowly while that fault is on. */
export type Reading = {
  /** Bytes were read: a slow reader rests as long as they are worth. */
  readonly took: (bytes: number) => void;
  /** Stops or resumes reading; called after every change of the room. */
  readonly update: () => void;
  readonly stop: () => void;
};

export type ReadingDependencies = {
  readonly trickle: () => Trickle | undefined;
  /** True while too many queries are in work, or too many answers wait. */
  readonly isFull: () => boolean;
};

export function createReading(socket: Socket, { trickle, isFull }: ReadingDependencies): Reading {
  let rest: NodeJS.Timeout | undefined;

  function update(): void {
    if (socket.destroyed) return;
    if (rest !== undefined || isFull()) socket.pause();
    else socket.resume();
  }

  return {
    update,
    took(bytes) {
      const slow = trickle();
      if (slow === undefined) return;
      rest = setTimeout(
        () => {
          rest = undefined;
          update();
        },
        (bytes / slow.bytes) * slow.everyMs,
      );
    },
    stop: () => clearTimeout(rest),
  };
}
