import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A process on one core that answers each order with one message. */
export type PinnedProcess<Order, Answer> = {
  readonly ask: <Kind extends (Answer extends { readonly kind: infer K } ? K : never)>(
    order: Order,
    kind: Kind,
  ) => Promise<Extract<Answer, { readonly kind: Kind }>>;
  /** Resolves to the next answer of a kind, which no order asks for. */
  readonly next: <Kind extends (Answer extends { readonly kind: infer K } ? K : never)>(
    kind: Kind,
  ) => Promise<Extract<Answer, { readonly kind: Kind }>>;
  readonly close: () => Promise<void>;
};

/** Starts a file of this folder on one core, with the options of Node of this process. */
export function startPinned<Order, Answer extends { readonly kind: string }>(
  file: string,
  core: number,
): PinnedProcess<Order, Answer> {
  const program = [process.execPath, ...process.execArgv, join(import.meta.dirname, file)];
  const child: ChildProcess = spawn('taskset', ['-c', `${core}`, ...program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');

  const next = (kind: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null): void => reject(new Error(`${file} ended with ${code}`));
      const onMessage = (answer: Answer): void => {
        if (answer.kind !== kind) return;
        child.off('message', onMessage);
        child.off('exit', onExit);
        resolve(answer);
      };
      child.on('message', onMessage);
      child.once('exit', onExit);
    });

  return {
    next: next as PinnedProcess<Order, Answer>['next'],
    ask: ((order: Order, kind: string) => {
      const answer = next(kind);
      child.send(order as object);
      return answer;
    }) as PinnedProcess<Order, Answer>['ask'],
    async close() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
