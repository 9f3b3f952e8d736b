import type { MetadataTask } from '../store/metadata-tasks.ts';
import type { FetchPlan } from './attempt.ts';

/** Task claimed by this process, with its plan. */
export type ClaimedTask = { readonly task: MetadataTask; readonly plan: FetchPlan };

/** Tasks claimed by a process. They are more than the tasks in progress, so no slot stays empty. They are never too many of one host. */
export type ClaimedTasks = {
  /** Adds a task. Returns undefined when its host has enough tasks; the task is then requeued. */
  take(one: ClaimedTask): ClaimedTask | undefined;
  letGo(one: ClaimedTask): void;
  count(): number;
  /** Returns how many tasks may be claimed; 0 until a query of the queue is worthwhile. */
  room(): number;
  /** Returns hosts that have enough tasks. */
  busyHosts(): string[];
};

/** Tasks for each slot: one in progress, and the next ones. All of them get their turn within the time of a claim, even if each takes its longest. */
const TASKS_PER_PLACE = 4;

export function createClaimedTasks(options: {
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
}): ClaimedTasks {
  const tasksMax = options.concurrency * TASKS_PER_PLACE;
  /** Most tasks of a host. A slow host leaves half of the slots to others. */
  const tasksPerHostMax = Math.min(options.concurrencyPerHost * TASKS_PER_PLACE, Math.ceil(tasksMax / 2));
  const claimed = new Set<ClaimedTask>();
  const byHost = new Map<string, number>();

  const add = ({ plan: { host } }: ClaimedTask, more: number): void => {
    if (host === null) return;
    const count = (byHost.get(host) ?? 0) + more;
    if (count === 0) byHost.delete(host);
    else byHost.set(host, count);
  };

  return {
    take(one) {
      const { host } = one.plan;
      if (host !== null && (byHost.get(host) ?? 0) >= tasksPerHostMax) return undefined;
      claimed.add(one);
      add(one, 1);
      return one;
    },
    letGo(one) {
      if (claimed.delete(one)) add(one, -1);
    },
    count: () => claimed.size,
    room: () => (claimed.size * 2 > tasksMax ? 0 : tasksMax - claimed.size),
    // A host counts as busy from half on. A query of the queue is then worthwhile when it has room again.
    busyHosts: () => [...byHost].filter(([, count]) => count * 2 >= tasksPerHostMax).map(([host]) => host),
  };
}
