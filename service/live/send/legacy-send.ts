import { PoolError } from '#service/pool/errors.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { ExternalContent } from '#service/tvm/fees.ts';
import { writeExternalMessage } from '#service/tvm/fees.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import type { AccountId, LiveAccounts } from '../accounts/accounts.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import { readExternalMessage, requireMessageCells } from './external-message.ts';
import type { ExternalMessage } from './external-message.ts';
import type { LiveSend, OnSent } from './send.ts';

/** External message for an account. The state is used while the account has no code. */
export type ExternalQuery = ExternalContent & { readonly account: AccountId };

/** Ways to send of the old Python service (service/v2/README.md#legacy-operations). */
export type LegacySend = {
  /** Writes the message and sends it. Rejects as `LiveSend.send` does. */
  sendQuery(query: ExternalQuery, context: ReadContext): Promise<LiveAnswer<ExternalMessage>>;
  /**
   * Sends a message now and every 5 seconds for a minute, regardless of results. Only lite servers that the caller may use receive it.
   * Returns at once, and continues after the caller has left.
   * Throws LiveError `bad_message`. Throws PoolError `no_lite_server` when the limit of repeated messages is reached.
   */
  sendRepeatedly(boc: Buffer, context: ReadContext): LiveAnswer<ExternalMessage>;
};

/** How often and how long a message is sent again, as the old service does. */
const EVERY_MS = 5_000;
const DURATION_MS = 60_000;

/** Messages sent again at a time: of 64 KiB at the most, 16 MB; 50 sends a second. */
const REPEATED_MAX = 256;

type Repeated = {
  readonly boc: Buffer;
  readonly rights: Pick<ReadContext, 'access' | 'caller'>;
  readonly endMs: number;
};

export type LegacySendDependencies = {
  readonly pool: Pick<Pool, 'broadcast'>;
  readonly accounts: Pick<LiveAccounts, 'readAccount'>;
  readonly send: LiveSend;
  readonly onSent?: OnSent | undefined;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
};

export function createLegacySend({ pool, accounts, send, onSent, now }: LegacySendDependencies): LegacySend {
  let repeated = 0;

  /** Sends once; true when further sends are useless. */
  async function sendOnce({ boc, rights }: Repeated): Promise<boolean> {
    try {
      const time = { deadlineMs: now() + EVERY_MS, signal: AbortSignal.timeout(EVERY_MS) };
      await pool.broadcast(boc, { ...rights, ...time });
      return false;
    } catch (error) {
      return error instanceof PoolError && error.code === 'closed';
    }
  }

  async function repeat(message: Repeated): Promise<void> {
    const isOver = await sendOnce(message);
    if (isOver || now() + EVERY_MS >= message.endMs) repeated -= 1;
    else setTimeout(() => void repeat(message), EVERY_MS).unref();
  }

  return {
    async sendQuery({ account, ...content }, context) {
      const read = await accounts.readAccount(account, undefined, context);
      const state = read.value.state === 'active' ? { initCode: null, initData: null } : {};
      const parts = { ...content, ...state };
      requireMessageCells([parts.body, parts.initCode, parts.initData]);
      const timeSlice = createTimeSlice(context.signal);
      return send.send(await writeExternalMessage(account, parts, () => timeSlice.pause()), context);
    },

    sendRepeatedly(boc, { access, caller }) {
      const message = readExternalMessage(boc);
      if (repeated >= REPEATED_MAX) throw new PoolError('no_lite_server');
      repeated += 1;
      // The caller's rights outlast its request; its deadline, trace and notes do not.
      const rights = { ...(access && { access }), ...(caller !== undefined && { caller }) };
      void repeat({ boc: message.boc, rights, endMs: now() + DURATION_MS });
      onSent?.(message, rights);
      return { value: message, liteServers: [], cached: false };
    },
  };
}
