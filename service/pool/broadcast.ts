import { context as otelContext, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Span, Tracer } from '@opentelemetry/api';

import { LiteServerError } from '../liteserver/errors.ts';
import { sendMessage } from '../liteserver/functions.ts';
import type { SendMsgStatus } from '../liteserver/tl/lite-api.ts';
import type { Choice, Wanted } from './choice.ts';
import { abandonment, PoolError } from './errors.ts';
import type { Member } from './member.ts';
import type { PoolMetrics } from './metrics.ts';
import type { PoolTuning } from './options.ts';
import type { PoolContext } from './reads.ts';
import { isUsable } from './selection.ts';
import { placesOf } from './slices.ts';
import { judge, mostTelling } from './verdict.ts';
import type { WaitingLine } from './waiting-line.ts';

/** Lite servers that a message is sent to at once: the message spreads from any of them, and one of them may be cut off. */
export const BROADCAST_WIDTH = 5;

/** Who a message was sent to, once one of them took it. */
export type Delivery = {
  /** Zero-based, in configuration order. */
  readonly liteServers: readonly number[];
  /** The network had the message before. */
  readonly known: boolean;
};

/**
 * Sends an external message (a BoC) to up to five lite servers with room at once and resolves with the first that takes it, or that has
 * it already. Where none has room it waits for one, before all reads. Where one fails otherwise than by refusing the message, the next
 * one is asked. Rejects when all failed, with the most telling error: LiteServerError `rejected` before all others; PoolError
 * `no_lite_server`, `saturated`, `deadline`, `aborted`, `closed`.
 */
export type Broadcast = (message: Buffer, context: PoolContext) => Promise<Delivery>;

export type BroadcastDependencies = {
  readonly members: readonly Member[];
  readonly metrics: PoolMetrics;
  readonly tracer: Tracer;
  readonly isClosed: () => boolean;
  readonly choice: Choice;
  readonly line: WaitingLine;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
};

type Send = { overdue: boolean };

export function createBroadcast(tuning: PoolTuning, dependencies: BroadcastDependencies): Broadcast {
  const { members, choice, line, now } = dependencies;

  /** The next lite server, one that is out only as the first; `full` when it has no room. */
  function choose(wanted: Wanted, tried: Set<number>): Member | 'full' | undefined {
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
      const wanted = wantedFor(context);
      context.observe?.({ kind: 'asked', liteServers: tried });
      const errors: unknown[] = [];
      const running = new Set<Send>();
      let decided = false;
      let isExhausted = false;
      let leave: (() => void) | undefined;
      const endOfTime = callAtEnd(context, now, (error) => decide(() => reject(error(tried.size))));

      // The sends that are under way then are left to end by themselves: the more have the message, the better.
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
        else if (member !== 'full') void follow(member);
      }

      /** To as many as have room; false when none has. */
      function launchAll(): boolean {
        for (let count = 0; count < BROADCAST_WIDTH; count++) launch();
        if (tried.size === 0 && isExhausted) decide(() => reject(new PoolError('no_lite_server')));
        return tried.size > 0 || isExhausted;
      }

      async function follow(member: Member): Promise<void> {
        const send: Send = { overdue: false };
        running.add(send);
        const onOverdue = (): void => {
          send.overdue = true;
          if (!decided) goOn();
        };
        try {
          await sendTo(member, request, { parent: context.span, onOverdue });
          deliver(false);
        } catch (error) {
          if (isKnownMessage(error)) return deliver(true);
          errors.push(error);
          running.delete(send);
          if (!decided) goOn(judge(error).final);
        } finally {
          running.delete(send);
        }
      }

      /** @param isRefusal another one would refuse as well, so that none takes the place of the one that did */
      function goOn(isRefusal = false): void {
        if (!isRefusal) launch();
        const inTime = [...running].filter(({ overdue }) => !overdue).length;
        if (inTime > 0) return;
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
  async function sendTo(
    member: Member,
    request: Buffer,
    { parent, onOverdue }: { parent: Span | undefined; onOverdue: () => void },
  ): Promise<void> {
    const startedMs = now();
    const span = startSendSpan(dependencies.tracer, member, parent);
    let outcome = 'ok' as ReturnType<typeof judge>['outcome'];
    const leave = member.takePlace();
    const timer = setTimeout(() => {
      member.overdue(sendMessage.name);
      onOverdue();
    }, tuning.overdueMs);
    try {
      requireTaken(sendMessage.decode(await member.read(request, { timeoutMs: tuning.queryTimeoutMs, span })));
      member.succeeded('read');
    } catch (error) {
      const verdict = judge(error);
      ({ outcome } = verdict);
      member.judged('read', verdict, error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : outcome });
      throw error;
    } finally {
      clearTimeout(timer);
      leave();
      dependencies.metrics.attempt(member.name, outcome, (now() - startedMs) / 1000);
      span.setAttribute('ton.outcome', outcome);
      span.end();
    }
  }
}

/** The one status that a node answers with: it took the message. */
const TAKEN = 1;

/** @throws LiteServerError `protocol` for another status */
function requireTaken({ status }: SendMsgStatus): void {
  if (status === TAKEN) return;
  const text = `the status of a sent message is ${status}, expected ${TAKEN}`;
  throw new LiteServerError('protocol', { serverCode: undefined, text, function: sendMessage.name });
}

/** Calls `end` with the error to show when the caller's time is over or the caller leaves. */
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

function wantedFor({ access }: PoolContext): Wanted {
  const places = placesOf(sendMessage.name, {});
  return { methodClass: 'light', masterchainSeqno: undefined, depth: undefined, places, access, isUrgent: true };
}

/** A message that comes again is refused with these words; wallets resend until they see it (v2 sheet 9.5). */
function isKnownMessage(error: unknown): boolean {
  return error instanceof LiteServerError && error.code === 'duplicate' && /duplicate message/.test(error.data.text);
}

/** Silence is told by the number of those who kept it; a refusal says more. */
function telling(errors: readonly unknown[]): Error {
  const error = mostTelling(errors);
  return error instanceof Error ? error : new PoolError('no_lite_server', { attempts: errors.length }, error);
}

function startSendSpan(tracer: Tracer, member: Member, parent: Span | undefined): Span {
  const context = parent === undefined ? otelContext.active() : trace.setSpan(otelContext.active(), parent);
  const attributes = { 'ton.lite_server': member.name, 'ton.function': 'sendMessage' };
  return tracer.startSpan('pool.attempt', { attributes }, context);
}
