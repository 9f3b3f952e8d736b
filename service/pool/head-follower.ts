import { setTimeout as sleep } from 'node:timers/promises';

import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';
import { LiteServerError } from '../liteserver/errors.ts';
import { getMasterchainInfo } from '../liteserver/functions.ts';
import type { ZeroStateId } from './head.ts';
import type { Member } from './member.ts';
import type { PoolTuning } from './options.ts';
import { judge } from './verdict.ts';

/** Code of a lite server's "no such block yet" to a wait: normal at the tip (lite server sheet 3). */
const WAIT_TIMED_OUT = 652;

/** The highest seqno that a block's full name may have (lite server sheet 4.1). */
const SEQNO_MAX = 0x7fff_ffff;

/** A lite server that refused to wait is asked without waiting for this long, then tried again. */
const POLL_ONLY_MS = 10_000;

/** Least time between two waits: no network makes blocks faster, a lite server that says so is not asked faster. */
const REPORT_GAP_MS = 20;

/** A wait that ended without a block took at least this part of its time: else the lite server does not wait. */
const WAITED_PART = 0.5;

/** A timer that fires this much late is no clock to judge a lite server by. */
const LATE_TIMER_MS = 200;

/** Follows what one lite server says its newest masterchain block is, as long as the pool lives. */
export type HeadFollower = { close(): Promise<void> };

/**
 * One loop for each lite server: ask for its newest block, then have it wait for the next one. The loop is also the probe that
 * brings a lite server in and back in, and what first notices a silent one.
 */
export function createHeadFollower(
  options: { zeroState: ZeroStateId; tuning: PoolTuning },
  dependencies: { member: Member; onReport: () => void; isUrgent: () => boolean; now: () => number },
): HeadFollower {
  const { zeroState, tuning } = options;
  const { member, onReport, isUrgent, now } = dependencies;
  const stop = new AbortController();
  let pollOnlyUntilMs = 0;

  async function follow(): Promise<void> {
    while (!stop.signal.aborted) {
      if (member.health().phase === 'rejected') return;
      await sitOut();
      const startedMs = now();
      const mayReport = await probe();
      const gapMs = mayReport && (await report()) ? REPORT_GAP_MS : tuning.pollMs;
      onReport();
      await pause(startedMs + gapMs - now());
    }
  }

  /** Waits for the end of the pause of one that is out, or less while nobody else is usable. */
  async function sitOut(): Promise<void> {
    for (;;) {
      const { phase, outUntilMs } = member.health();
      const leftMs = outUntilMs - now();
      if (stop.signal.aborted || phase === 'in' || leftMs <= 0) return;
      await pause(Math.min(leftMs, tuning.urgentProbeMs));
      if (isUrgent()) member.pardoned();
    }
  }

  /** One that is out for reads is asked such a read again, with nobody waiting for it. False when it failed again. */
  async function probe(): Promise<boolean> {
    const request = member.probeRead();
    if (request === undefined) return true;
    try {
      await member.server.queryBytes(request, { timeoutMs: tuning.overdueMs, signal: stop.signal });
      member.succeeded('read');
      return true;
    } catch (error) {
      if (stop.signal.aborted) return false;
      const verdict = judge(error);
      if (verdict.health === 'works') member.succeeded('read');
      else member.judged('read', verdict, error);
      return verdict.health === 'works';
    }
  }

  /** True when it waited, for a newer block or in vain: then the next wait follows at once, so that no block comes between two of them. */
  async function report(): Promise<boolean> {
    const tip = member.tip();
    const seqno = tip === undefined ? 0 : tip.block.seqno + 1;
    const startedMs = now();
    const waits = seqno > 0 && member.health().phase === 'in' && now() >= pollOnlyUntilMs;
    const timeoutMs = tuning.waitMarginMs + (waits ? tuning.waitMs : 0);
    try {
      const info = await member.server.query(
        getMasterchainInfo,
        {},
        {
          timeoutMs,
          signal: stop.signal,
          ...(waits ? { waitMasterchain: { seqno, timeoutMs: tuning.waitMs } } : {}),
        },
      );
      return accept(info) && waits && info.last.seqno >= seqno;
    } catch (error) {
      if (stop.signal.aborted) return false;
      const tookMs = now() - startedMs;
      // A timer that came late means that this process stood still, and its answers wait to be read.
      if (isTimeout(error) && tookMs < timeoutMs + LATE_TIMER_MS) member.silent(startedMs, error);
      else onError(error, waits);
      return waits && isWaitOver(error) && tookMs >= tuning.waitMs * WAITED_PART;
    }
  }

  function accept(info: ReturnType<typeof getMasterchainInfo.decode>): boolean {
    if (!sameZeroState(info.init, zeroState)) {
      member.otherNetwork(info.init);
      return false;
    }
    const { last } = info;
    if (last.workchain !== MASTERCHAIN || last.shard !== FULL_SHARD || last.seqno > SEQNO_MAX) {
      const text = 'the newest block is no block of the masterchain';
      onError(
        new LiteServerError('protocol', { serverCode: undefined, text, function: getMasterchainInfo.name }),
        false,
      );
      return false;
    }
    member.reported({ block: last, stateRootHash: info.stateRootHash });
    return true;
  }

  function onError(error: unknown, waited: boolean): void {
    const serverCode = error instanceof LiteServerError ? error.data.serverCode : undefined;
    if (waited && isWaitOver(error)) return member.succeeded('report');
    if (waited && serverCode !== undefined) pollOnlyUntilMs = now() + POLL_ONLY_MS;
    member.judged('report', judge(error), error);
  }

  async function pause(ms: number): Promise<void> {
    if (ms <= 0) return;
    try {
      await sleep(ms, undefined, { signal: stop.signal });
    } catch {
      // Closed while pausing: the loop sees the signal.
    }
  }

  const done = follow();
  return {
    async close() {
      stop.abort();
      await done;
    },
  };
}

function isWaitOver(error: unknown): boolean {
  return error instanceof LiteServerError && error.data.serverCode === WAIT_TIMED_OUT;
}

function isTimeout(error: unknown): boolean {
  return error instanceof LiteServerError && error.code === 'timeout' && error.data.serverCode === undefined;
}

function sameZeroState(a: ZeroStateId, b: ZeroStateId): boolean {
  return a.workchain === b.workchain && a.rootHash.equals(b.rootHash) && a.fileHash.equals(b.fileHash);
}
