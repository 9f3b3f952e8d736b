import { DevchainError } from '../chain/errors.ts';
import type { StartTimer } from '../chain/head.ts';

/** Runs methods one after the other. */
export type Turns = {
  /**
   * Runs the work when the work before has ended. Work whose turn does not come in time never runs.
   * @throws DevchainError `method_waits`, and the error of the work
   */
  take<T>(method: string, work: () => Promise<T>): Promise<T>;
};

/** @param waitMsMax longest wait for a turn */
export function createTurns(waitMsMax: number, startTimer: StartTimer): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let running = '';
  return {
    async take<T>(method: string, work: () => Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      let isOver = false;
      const cancel = startTimer(() => {
        isOver = true;
        reject(waits(method, running, waitMsMax));
      }, waitMsMax);
      const before = last;
      const run = async (): Promise<void> => {
        await before;
        if (isOver) return;
        cancel();
        running = method;
        await work().then(resolve, reject);
      };
      last = run();
      return await promise;
    },
  };
}

function waits(method: string, running: string, waitMsMax: number): DevchainError<'method_waits'> {
  return new DevchainError({
    code: 'method_waits',
    message: `${method} did not run: ${running} before it has not ended for ${waitMsMax / 1000} s; dev_status and dev_mine do not wait`,
    data: { running },
    retryable: true,
  });
}
