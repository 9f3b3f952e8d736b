import type { Logger } from 'pino';
import { decodeEnvelope } from '../liteserver/tl/envelope.ts';
import { TlError } from '../liteserver/tl/errors.ts';
import { functionOf } from '../liteserver/function-table.ts';
import { liteServerError } from '../liteserver/tl/lite-api.ts';
import { encodeTl } from '../liteserver/tl/record.ts';
import type { Chain } from './chain/chain.ts';
import { DevchainError, isRefusal, refusal, serverCode } from './chain/errors.ts';
import { faultyAnswer, faultyTip, refuseByFaults } from './faults/faults.ts';
import type { QueryFaults } from './faults/faults.ts';
import type { Head, StartTimer } from './chain/head.ts';
import { createMessageInbox } from './queries/message-queries.ts';
import type { MessageInboxDependencies } from './queries/message-queries.ts';
import type { MethodRunner } from './queries/method-runner.ts';
import type { QueryServerMetrics } from './metrics.ts';
import { answerQuery } from './queries/queries.ts';
import type { ChainView } from './chain/chain-view.ts';
import { createBlockWaiters } from './chain/block-waiters.ts';

/** Answers what ADNL carries: envelopes, waits, functions, and the faults of a server that does it wrong. */
export type QueryServer = {
  /** Returns the answer to an envelope; null when a node would not answer. */
  answer(payload: Buffer, signal: AbortSignal): Promise<Buffer | null>;
  faults(): QueryFaults;
  /** Replaces all faults of what is answered. */
  setFaults(faults: QueryFaults): void;
  close(): void;
};

export type QueryServerDependencies = {
  readonly chain: Chain;
  readonly head: Head;
  readonly logger: Logger;
  readonly metrics: QueryServerMetrics;
  readonly startTimer: StartTimer;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Runs get-methods. All servers of a network may share it. */
  readonly methods: MethodRunner;
  /** Tries external messages, on a growing chain (`MessageInboxDependencies`). */
  readonly take?: MessageInboxDependencies['take'];
  /** Signed shard blocks of a growing chain; absent: non-final queries are refused. */
  readonly signed?: () => NonNullable<ChainView['signed']>;
  /** Is awaited before each answer: accounts of a forked network are brought over there. */
  readonly beforeAnswer?: (request: Buffer) => Promise<void>;
};

export function createQueryServer(dependencies: QueryServerDependencies): QueryServer {
  const { beforeAnswer, chain, head, logger, metrics, now, methods } = dependencies;
  const inbox = createMessageInbox({ nowMs: now, ...(dependencies.take !== undefined && { take: dependencies.take }) });
  let faults: QueryFaults = {};
  let queries = 0;
  const tip = (): number => faultyTip(faults, head.seqno(), queries);
  const waiting = createBlockWaiters(tip, dependencies);
  const stopListening = head.onMove(() => waiting.check());

  function pause(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancelTimer = dependencies.startTimer(resolve, delayMs);
      signal.addEventListener('abort', () => {
        cancelTimer();
        resolve();
      });
    });
  }

  async function answerRequest(request: Buffer, signal: AbortSignal): Promise<Buffer | null> {
    const acting = actingFaults(faults, request);
    if (acting.silent === true) return null;
    if (acting.overloadedAfterMs !== undefined) {
      await pause(acting.overloadedAfterMs, signal);
      throw refusal(serverCode.deadline, 'timeout');
    }
    const view: ChainView = {
      chain,
      tip: tip(),
      nowSeconds: Math.floor(now() / 1000) + (acting.clockSkewSeconds ?? 0),
      signed: dependencies.signed?.(),
    };
    refuseByFaults(acting, view, request);
    await beforeAnswer?.(request);
    if (functionOf(request)?.name === 'runSmcMethod') await methods.ready();
    return faultyAnswer(acting, view, request, (one) => answerQuery(one, request, { inbox, methods }));
  }

  return {
    async answer(payload, signal) {
      queries++;
      const stopTimer = metrics.time();
      let name = 'unknown';
      try {
        const { request, wait } = decodeEnvelope(payload);
        name = functionOf(request)?.name ?? 'unknown';
        if (wait !== undefined) await waiting.until(wait.seqno, wait.timeoutMs, signal);
        const answer = await answerRequest(request, signal);
        stopTimer(name, answer === null ? 'silent' : 'answered');
        return answer;
      } catch (error) {
        if (isRefusal(error)) {
          stopTimer(name, 'refused');
          return encodeTl(liteServerError.boxed, { code: error.data.serverCode, message: error.message });
        }
        stopTimer(name, 'failed');
        // A node does not answer a payload that is no envelope.
        if (error instanceof TlError) return null;
        if (error instanceof DevchainError && error.code === 'fork_unreachable') {
          return encodeTl(liteServerError.boxed, { code: serverCode.generic, message: error.message });
        }
        logger.error({ err: error, function: name }, 'a lite-server query failed');
        return encodeTl(liteServerError.boxed, { code: serverCode.generic, message: 'internal error' });
      }
    },
    faults: () => faults,
    setFaults(next) {
      faults = next;
      waiting.check();
    },
    close() {
      stopListening();
      waiting.close();
    },
  };
}

/** Returns the faults that affect a request. Faults of other functions do not. */
function actingFaults(faults: QueryFaults, request: Buffer): QueryFaults {
  const { only } = faults;
  return only === undefined || only.includes(functionOf(request)?.name ?? '') ? faults : {};
}
