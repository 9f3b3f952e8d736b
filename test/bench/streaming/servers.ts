import type { CallersAnswer, CallersOrder, ServerAnswer, ServerOrder } from './orders.ts';
import { startPinned, type PinnedProcess } from './processes.ts';

/** A server under load with its callers. */
export type Server = {
  readonly port: number;
  readonly process: PinnedProcess<ServerOrder, ServerAnswer>;
  readonly callers: PinnedProcess<CallersOrder, CallersAnswer>;
  readonly close: () => Promise<void>;
};

/** Cores of the server under load, and of its callers. */
export const [SERVER_CORE, CALLERS_CORE] = [0, 1] as const;

export async function startServer(file: 'pod.ts' | 'floor.ts'): Promise<Server> {
  const process = startPinned<ServerOrder, ServerAnswer>(file, SERVER_CORE);
  const { port } = await process.next('ready');
  const callers = startCallers();
  return {
    port,
    process,
    callers,
    async close() {
      await callers.close();
      await process.close();
    },
  };
}

export function startCallers(): Server['callers'] {
  return startPinned<CallersOrder, CallersAnswer>('callers.ts', CALLERS_CORE);
}
