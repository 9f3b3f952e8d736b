import type { Cluster, Redis } from 'ioredis';

import type { PendingLink } from './shared-traces.ts';

/** Commands on keys of one type. A key that another writer gave another type counts as absent. */
export type TypedKeys = {
  /** Runs a command as `PendingLink.ask`. A key of another type is deleted, and the command runs again. */
  ask<T>(key: string, command: (client: Redis | Cluster) => Promise<T>): Promise<T | undefined>;
  /** A value of another form, which the reader counts as absent. */
  malformed(): undefined;
};

/** Limit of a command. A trace is written after sending and read before an answer: neither waits for an unhealthy Redis. */
const ANSWER_MS = 200;

export function createTypedKeys(link: PendingLink, onMalformed: () => void): TypedKeys {
  return {
    ask: (key, command) =>
      link.ask(async (client) => {
        try {
          return await command(client);
        } catch (error) {
          if (!(error instanceof Error) || !error.message.includes('WRONGTYPE')) throw error;
          onMalformed();
          await client.del(key);
          return command(client);
        }
      }, ANSWER_MS),
    malformed: () => {
      onMalformed();
      return undefined;
    },
  };
}
