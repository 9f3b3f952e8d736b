import { randomUUID } from 'node:crypto';

import type { GoneReason } from './metrics.ts';
import { HASH_TEXT } from './shared-traces.ts';
import { TRACE_FORM } from './pending-trace.ts';
import type { TypedKeys } from './typed-keys.ts';

/** A change of a message's trace that other pods hear of. */
export type SharedNews =
  | { readonly kind: 'trace'; readonly key: string }
  | {
      readonly kind: 'gone';
      readonly key: string;
      readonly reason: GoneReason;
      /** The index has begun with the trace. */
      readonly isTaken: boolean;
    };

/** Changes that pods report to each other, as one stream in Redis. The stream is there while a pod hears. */
export type SharedNewsStream = {
  readonly report: (news: SharedNews) => Promise<void>;
  /** News of other pods since the last call, oldest first. The first call only finds where the stream ends. */
  readonly hear: () => Promise<readonly SharedNews[]>;
};

/** Entries of the stream: some minutes of a busy API. */
const ENTRIES_MAX = 4_000;

/** Entries of one reading. */
const READ_MAX = 200;

const reasons: readonly string[] = ['indexed', 'conflict', 'expired', 'displaced'] satisfies GoneReason[];

export type SharedNewsOptions = {
  /** Scope of the Redis keys, the same as for shared traces. */
  readonly scope: string;
  /** Time without a hearer after which the stream expires, milliseconds. */
  readonly keptMs: number;
};

export function createSharedNews({ scope, keptMs }: SharedNewsOptions, keys: TypedKeys): SharedNewsStream {
  const name = `ton:pending:${TRACE_FORM}:${scope}:news`;
  const pod = randomUUID();
  /** Entry behind which the next reading begins. */
  let after: string | undefined;

  function read(fields: readonly string[]): SharedNews | undefined {
    const [, from, , key = '', , what = '', , taken] = fields;
    // The entry that made the stream has no news.
    if (from === pod || fields.length === 2) return undefined;
    if (!HASH_TEXT.test(key)) return keys.malformed();
    if (what === 'trace') return { kind: 'trace', key };
    if (!reasons.includes(what)) return keys.malformed();
    return { kind: 'gone', key, reason: what as GoneReason, isTaken: taken === '1' };
  }

  /** Makes the stream if it is not there. Returns its last entry. */
  async function join(): Promise<string | undefined> {
    return keys.ask(name, async (client) => {
      const [last] = await client.xrevrange(name, '+', '-', 'COUNT', 1);
      const id = last?.[0] ?? (await client.xadd(name, '*', 'pod', pod));
      await client.pexpire(name, keptMs);
      return id ?? undefined;
    });
  }

  return {
    async report(news) {
      const what = news.kind === 'trace' ? 'trace' : news.reason;
      const taken = news.kind === 'gone' && news.isTaken ? '1' : '0';
      const fields = ['pod', pod, 'key', news.key, 'what', what, 'taken', taken];
      await keys.ask(name, (client) => client.xadd(name, 'NOMKSTREAM', 'MAXLEN', '~', ENTRIES_MAX, '*', ...fields));
    },
    async hear() {
      if (after === undefined) {
        after = await join();
        return [];
      }
      const from = after;
      const found = await keys.ask(name, async (client) => {
        // The stream was removed, and its news are lost.
        if ((await client.pexpire(name, keptMs)) === 0) await join();
        return client.xrange(name, `(${from}`, '+', 'COUNT', READ_MAX);
      });
      after = found?.at(-1)?.[0] ?? after;
      return (found ?? []).flatMap(([, fields]) => read(fields) ?? []);
    },
  };
}
