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

/** Changes that pods tell each other, as one stream in Redis. */
export type SharedNewsStream = {
  readonly tell: (news: SharedNews) => Promise<void>;
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
  /** Time without news after which the stream expires, milliseconds. */
  readonly keptMs: number;
};

export function createSharedNews({ scope, keptMs }: SharedNewsOptions, keys: TypedKeys): SharedNewsStream {
  const name = `ton:pending:${TRACE_FORM}:${scope}:news`;
  const pod = randomUUID();
  /** Entry behind which the next reading begins. */
  let after: string | undefined;

  function read(fields: readonly string[]): SharedNews | undefined {
    const [, from, , key = '', , what = '', , taken] = fields;
    if (from === pod) return undefined;
    if (!HASH_TEXT.test(key)) return keys.malformed();
    if (what === 'trace') return { kind: 'trace', key };
    if (!reasons.includes(what)) return keys.malformed();
    return { kind: 'gone', key, reason: what as GoneReason, isTaken: taken === '1' };
  }

  return {
    async tell(news) {
      const what = news.kind === 'trace' ? 'trace' : news.reason;
      const taken = news.kind === 'gone' && news.isTaken ? '1' : '0';
      await keys.ask(name, async (client) => {
        const fields = ['pod', pod, 'key', news.key, 'what', what, 'taken', taken];
        await client.xadd(name, 'MAXLEN', '~', ENTRIES_MAX, '*', ...fields);
        return client.pexpire(name, keptMs);
      });
    },
    async hear() {
      if (after === undefined) {
        const last = await keys.ask(name, (client) => client.xrevrange(name, '+', '-', 'COUNT', 1));
        if (last !== undefined) after = last[0]?.[0] ?? '0-0';
        return [];
      }
      const from = after;
      const found = await keys.ask(name, (client) => client.xrange(name, `(${from}`, '+', 'COUNT', READ_MAX));
      after = found?.at(-1)?.[0] ?? after;
      return (found ?? []).flatMap(([, fields]) => read(fields) ?? []);
    },
  };
}
