import { context as otelContext, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Span, Tracer } from '@opentelemetry/api';

import { LiteServerError } from '../liteserver/errors.ts';
import { sendMessage } from '../liteserver/functions.ts';
import type { SendMsgStatus } from '../liteserver/tl/lite-api.ts';
import type { Picker, Requirement } from './lite-server-picker.ts';
import { abandonment, PoolError } from './errors.ts';
import type { Member } from './member.ts';
import type { PoolMetrics } from './metrics.ts';
import type { PoolTuning } from './options.ts';
import type { PoolContext } from './reads.ts';
import { isUsable } from './selection.ts';
import { judge, mostInformativeError } from './verdict.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import { countInTime, startAttempt, type Attempt } from './attempts.ts';

/** Number of lite servers that get a message at once. The message spreads from any of them, and a server may be cut off. */
export const BROADCAST_WIDTH = 5;

/** Result of a broadcast once a lite server accepted the message. */
export type Delivery = {
  /** Zero-based, in configuration order. */
  readonly liteServers: readonly number[];
  /** True when the network had the message before. */
  readonly known: boolean;
};

/**
 * Sends an external message (a BoC) to up to five lite servers with room at once. Resolves with the first that accepts it, or has it already. If none
 * has room, the message waits for room, before all reads. If a server fails without refusing the message, the next one is asked. Rejects when all
 * failed, with the most informative error. LiteServerError `rejected` comes before all others; then PoolError `no_lite_server`, `saturated`,
 * `deadline`, `aborted`, `closed`.
 */
export type Broadcast = (message: Buffer, context: PoolContext) => Promise<Delivery>;

export type BroadcastDependencies = {
  readonly members: readonly Member[];
  readonly metrics: PoolMetrics;
  readonly tracer: Tracer;
  readonly isClosed: () => boolean;
  readonly choice: Picker;
  readonly line: AdmissionQueue;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
};

export function createBroadcast(
  { overdueMs, queryTimeoutMs }: PoolTuning,
  dependencies: BroadcastDependencies,
): Broadcast {
  const { members, choice, line, now } = dependencies;

  /** Returns the next lite server; an ejected server only as the first. `full` when the next server has no room. */
  function choose(wanted: Requirement, tried: Set<number>): Member | 'full' | undefined {
    const chosen = choice.next(wanted, tried);
    if (chosen === undefined || (!isUsable(chosen) && tried.size > 0)) return undefined;
    if (!chosen.hasRoom) return 'full';
    tried.add(chosen.index);
    return members.find(({ index }) => index === chosen.index);
  }

  return (message, context) => {
    if (dependencies.isClosed()) return Promise.reject(new PoolError('closed'));
    const request = sendMessage.encode({ body: message });
    return new Promise((resolve, reject) => {
      const tried = new Set<number>();
      const wanted = wantedFor(message, context);
      context.observe?.({ kind: 'asked', liteServers: tried });
      const errors: unknown[] = [];
      const running = new Set<Attempt>();
      let decided = false;
      let isExhausted = false;
      let leave: (() => void) | undefined;
      const endOfTime = callAtEnd(context, now, (error) => decide(() => reject(error(tried.size))));

      // Sends in progress go on to their end: the more servers have the message, the better.
      function decide(settle: () => void): void {
        if (decided) return;
        decided = true;
        endOfTime.forget();
        leave?.();
        settle();
      }

      const deliver = (known: boolean): void => decide(() => resolve({ liteServers: [...tried], known }));

      function launch(): void {
        const member = isExhausted ? undefined : choose(wanted, tried);
        if (member === undefined) isExhausted = true;
        else if (member !== 'full') follow(member);
      }

      /** Sends to all servers with room, up to the width; returns false when none has room. */
      function launchAll(): boolean {
        for (let count = 0; count < BROADCAST_WIDTH; count++) launch();
        if (tried.size === 0 && isExhausted) decide(() => reject(new PoolError('no_lite_server')));
        return tried.size > 0 || isExhausted;
      }

      function follow(member: Member): void {
        const onOverdue = (): void => member.overdue(sendMessage.name);
        const rules = { start: () => sendTo(member, request, context.span), overdueMs, onOverdue, now };
        running.add(
          startAttempt(rules, member.index, {
            onOverdue: () => decided || goOn(),
            onEnd: (attempt) => running.delete(attempt),
            onAnswer: () => deliver(false),
            onError,
          }),
        );
      }

      function onError(error: unknown): void {
        if (isKnownMessage(error)) return deliver(true);
        errors.push(error);
        if (!decided) goOn(judge(error).final);
      }

      /** Goes on with the next server. @param isRefusal another server would refuse too, so no server replaces this one */
      function goOn(isRefusal = false): void {
        if (!isRefusal) launch();
        if (countInTime(running) > 0) return;
        const hasRefusal = errors.some((error) => judge(error).final);
        if (running.size === 0 || hasRefusal) decide(() => reject(telling(errors)));
      }

      if (context.signal.aborted) return decide(() => reject(abandonment(context.signal)));
      if (launchAll()) return;
      leave = line.join({
        caller: context.caller ?? '',
        isUrgent: true,
        kind: `message ${choice.forbidden(wanted)}`,
        deadlineMs: context.deadlineMs,
        start: launchAll,
        refuse: (error) => decide(() => reject(error)),
      });
    });
  };

  /** @throws LiteServerError, TlError */
  async function sendTo(member: Member, request: Buffer, parent: Span | undefined): Promise<void> {
    const startedMs = now();
    const span = startSendSpan(dependencies.tracer, member, parent);
    let outcome = 'ok' as ReturnType<typeof judge>['outcome'];
    const leave = member.takeSlot();
    try {
      requireTaken(sendMessage.decode(await member.read(request, { timeoutMs: queryTimeoutMs, span })));
      member.succeeded('read');
    } catch (error) {
      const verdict = judge(error);
      ({ outcome } = verdict);
      member.judged('read', verdict, error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : outcome });
      throw error;
    } finally {
      leave();
      dependencies.metrics.attempt(member.name, outcome, (now() - startedMs) / 1000);
      span.setAttribute('ton.outcome', outcome);
      span.end();
    }
  }
}

/** Only status of a node: it accepted the message. */
const TAKEN = 1;

/** @throws LiteServerError `protocol` for another status */
function requireTaken({ status }: SendMsgStatus): void {
  if (status === TAKEN) return;
  const text = `the status of a sent message is ${status}, expected ${TAKEN}`;
  throw new LiteServerError('protocol', { serverCode: undefined, text, function: sendMessage.name });
}

/** Calls `end` with an error when the caller's time is over or the caller leaves. */
function callAtEnd(
  { deadlineMs, signal }: PoolContext,
  now: () => number,
  end: (error: (attempts: number) => PoolError) => void,
): { forget(): void } {
  const onDeadline = (): void => end((attempts) => new PoolError('deadline', { attempts }));
  const onAbort = (): void => end(() => abandonment(signal));
  const timer = setTimeout(onDeadline, Math.max(0, deadlineMs - now()));
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    forget() {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

function wantedFor(message: Buffer, { access }: PoolContext): Requirement {
  const args = { body: message };
  return {
    methodClass: sendMessage.cost,
    masterchainSeqno: sendMessage.waitsFor(args),
    depth: sendMessage.depth(args),
    places: sendMessage.positions(args),
    access,
    isUrgent: true,
  };
}

/**
 * Reports whether the message was sent before. A node refuses a repeated message with this text; wallets resend until they see it
 * (service/v2/README.md#sending).
 */
function isKnownMessage(error: unknown): boolean {
  return error instanceof LiteServerError && error.code === 'duplicate' && /duplicate message/.test(error.data.text);
}

/** Returns the most informative error. A refusal comes before silence, which is reported by the number of silent servers. */
function telling(errors: readonly unknown[]): Error {
  const error = mostInformativeError(errors);
  return error instanceof Error ? error : new PoolError('no_lite_server', { attempts: errors.length }, error);
}

function startSendSpan(tracer: Tracer, member: Member, parent: Span | undefined): Span {
  const context = parent === undefined ? otelContext.active() : trace.setSpan(otelContext.active(), parent);
  const attributes = { 'ton.lite_server': member.name, 'ton.function': 'sendMessage' };
  return tracer.startSpan('pool.attempt', { attributes }, context);
}
