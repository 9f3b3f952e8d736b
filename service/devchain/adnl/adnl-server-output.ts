import type { Socket } from 'node:net';
import { batchedWrites } from '#service/liteserver/adnl/batched-writes.ts';
import type { Trickle } from './adnl-faults.ts';

/** Output of one connection: written at once, or in trickles while that fault is on. */
export type Output = {
  write(bytes: Buffer): void;
  /** Runs once everything written so far has left the process. */
  afterwards(action: () => void): void;
  /** Written and not yet taken by the system. */
  waitingBytes(): number;
  stop(): void;
};

export function createOutput(socket: Socket, trickle: () => Trickle | undefined): Output {
  const waiting: Buffer[] = [];
  const actions: (() => void)[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const writeNow = batchedWrites(socket);

  function write(bytes: Buffer): void {
    if (trickle() === undefined && waiting.length === 0) {
      writeNow(bytes);
      return;
    }
    waiting.push(bytes);
    waitingBytes += bytes.length;
    timer ??= setTimeout(drip, 0);
  }

  function drip(): void {
    timer = undefined;
    const rate = trickle();
    let budget = rate?.bytes ?? waitingBytes;
    while (budget > 0 && waiting.length > 0) {
      const [first] = waiting;
      if (first === undefined) break;
      const piece = first.subarray(0, budget);
      if (piece.length === first.length) waiting.shift();
      else waiting[0] = first.subarray(budget);
      budget -= piece.length;
      waitingBytes -= piece.length;
      socket.write(piece);
    }
    if (waiting.length > 0) timer = setTimeout(drip, rate?.everyMs ?? 0);
    else for (const action of actions.splice(0)) socket.write('', action);
  }

  return {
    write,
    afterwards(action) {
      if (waiting.length > 0) actions.push(action);
      else socket.write('', action);
    },
    waitingBytes: () => waitingBytes + socket.writableLength,
    stop() {
      clearTimeout(timer);
      waiting.length = 0;
      actions.length = 0;
    },
  };
}
