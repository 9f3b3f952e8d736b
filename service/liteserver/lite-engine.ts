import { EventEmitter } from 'node:events';
import type { LiteEngine } from 'ton-lite-client';
import type { TLFunction } from 'ton-tl';
import { TLReadBuffer, TLWriteBuffer } from 'ton-tl';
import type { QueryOptions } from './options.ts';

/** Target of the engine: a lite server, or a pool. */
export type QueryBytes = (request: Buffer, options: QueryOptions) => Promise<Buffer>;

export type LiteEngineDependencies = {
  readonly queryBytes: QueryBytes;
  /** Returns true when a query would be sent now. */
  readonly isReady: () => boolean;
};

/** Milliseconds for callers without a timeout, as in tonlib; longer than the node's own 4.5 s. */
const TIMEOUT_MS_DEFAULT = 10_000;

/**
 * Creates ton-lite-client's engine over anything that takes TL bytes, so that its `LiteClient` runs here. Errors are those of `queryBytes`; the only
 * event is `close`. Closing the engine refuses further queries; its target stays open and belongs to its owner.
 */
export function createLiteEngine({ queryBytes, isReady }: LiteEngineDependencies): LiteEngine {
  let closed = false;
  const own = {
    async query<Request, Answer>(
      fn: TLFunction<Request, Answer>,
      request: Request,
      { timeout: timeoutMs = TIMEOUT_MS_DEFAULT, awaitSeqno }: { timeout?: number; awaitSeqno?: number } = {},
    ): Promise<Answer> {
      if (closed) throw new Error('the engine is closed');
      const writer = new TLWriteBuffer();
      fn.encodeRequest(request, writer);
      const waitMasterchain = awaitSeqno === undefined ? undefined : { seqno: awaitSeqno, timeoutMs };
      const answer = await queryBytes(writer.build(), { timeoutMs, waitMasterchain });
      return fn.decodeResponse(new TLReadBuffer(answer));
    },
    close() {
      if (closed) return;
      closed = true;
      emitter.emit('close');
    },
    isClosed: () => closed,
    isReady: () => !closed && isReady(),
  };
  const emitter = new EventEmitter();
  return Object.assign(emitter, own);
}
