import type { MetadataTask } from '../store/metadata-tasks.ts';
import type { FetchPlan } from './attempt.ts';

/** A task that this process has, and what is to be done for it. */
export type TaskInHand = { readonly task: MetadataTask; readonly plan: FetchPlan };

/** The tasks that a process has taken: more than are under way, so that no place is ever empty, and never too many of one host. */
export type Hands = {
  /** Undefined when its host has enough: it goes back. */
  take(one: TaskInHand): TaskInHand | undefined;
  letGo(one: TaskInHand): void;
  count(): number;
  /** How many may be taken; 0 until it is worth a look into the queue. */
  room(): number;
  /** Hosts of which no more is wanted. */
  busyHosts(): string[];
};

/** Tasks for each place: one under way, the next ones known. Within the time of a claim they all have had their turn, even when each takes its longest. */
const tasksPerPlace = 4;

export function createHands(options: { readonly concurrency: number; readonly concurrencyPerHost: number }): Hands {
  const tasksMax = options.concurrency * tasksPerPlace;
  /** A host that is slow leaves half of the places to others. */
  const tasksPerHostMax = Math.min(options.concurrencyPerHost * tasksPerPlace, Math.ceil(tasksMax / 2));
  const held = new Set<TaskInHand>();
  const byHost = new Map<string, number>();

  const add = ({ plan: { host } }: TaskInHand, more: number): void => {
    if (host === null) return;
    const count = (byHost.get(host) ?? 0) + more;
    if (count === 0) byHost.delete(host);
    else byHost.set(host, count);
  };

  return {
    take(one) {
      const { host } = one.plan;
      if (host !== null && (byHost.get(host) ?? 0) >= tasksPerHostMax) return undefined;
      held.add(one);
      add(one, 1);
      return one;
    },
    letGo(one) {
      if (held.delete(one)) add(one, -1);
    },
    count: () => held.size,
    room: () => (held.size * 2 > tasksMax ? 0 : tasksMax - held.size),
    // From half on: so that a look into the queue is worth it again when they are wanted.
    busyHosts: () => [...byHost].filter(([, count]) => count * 2 >= tasksPerHostMax).map(([host]) => host),
  };
}
