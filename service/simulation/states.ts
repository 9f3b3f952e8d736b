import { setImmediate } from 'node:timers/promises';

import { hashInSlices } from '../live/accounts/paced-cells.ts';
import type { TimeSlice } from '../runtime/time-slice.ts';
import type { OpenedShardAccount } from '../tvm/shard-account.ts';
import { noState, readState, type SimulatedState } from './account-state.ts';

/** States before and after the transactions of a trace, each once. */
export type States = {
  /** @param hash of the `Account` cell, 32 bytes */
  add(hash: Buffer, shardAccount: OpenedShardAccount): void;
  /**
   * Reads what was added, after a turn of the event loop. A run that starts beside it thus reaches its thread first.
   * Rejects with DecodeError, and with the reason of the time slice's signal.
   */
  read(): Promise<void>;
  /** States that were read, in the order in which they were added. */
  all(): SimulatedState[];
};

/** @param timeSlice leaves turns to other requests between the cells of a large account */
export function createStates(timeSlice: TimeSlice): States {
  const unread = new Map<string, { readonly hash: Buffer; readonly shardAccount: OpenedShardAccount }>();
  const states = new Map<string, SimulatedState>();

  return {
    add(hash, shardAccount) {
      const key = hash.toString('hex');
      if (!states.has(key) && !unread.has(key)) unread.set(key, { hash, shardAccount });
    },
    async read() {
      if (unread.size === 0) return;
      await setImmediate();
      for (const [key, { hash, shardAccount }] of unread) {
        await timeSlice.pause();
        const { table, account } = shardAccount;
        await hashInSlices(table, timeSlice);
        states.set(key, readState(table, account) ?? noState(hash));
      }
      unread.clear();
    },
    all: () => [...states.values()],
  };
}
