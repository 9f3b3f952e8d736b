import type { Pool } from '#service/pool/pool.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import { readExternalMessage } from './external-message.ts';
import type { ExternalMessage } from './external-message.ts';

/** Sending of messages from outside. */
export type LiveSend = {
  /**
   * Checks a message (a BoC of any spelling) and sends it to several lite servers. Resolves when the first accepts it or has it already.
   * Accepted means checked and forwarded by a node, not yet in a block.
   * Rejects with LiveError `bad_message`, LiteServerError (`rejected` by the network's rules), PoolError.
   */
  send(boc: Buffer, context: ReadContext): Promise<LiveAnswer<ExternalMessage>>;
};

/** Called for a message that a lite server has accepted; must not throw. */
export type OnSent = (message: ExternalMessage, sender: Pick<ReadContext, 'access'>) => void;

export type LiveSendDependencies = { readonly pool: Pick<Pool, 'broadcast'>; readonly onSent?: OnSent | undefined };

export function createLiveSend({ pool, onSent }: LiveSendDependencies): LiveSend {
  return {
    async send(boc, context) {
      const message = readExternalMessage(boc);
      const { liteServers } = await pool.broadcast(message.boc, context);
      onSent?.(message, context);
      return { value: message, liteServers, cached: false };
    },
  };
}
