import { setTimeout as sleep } from 'node:timers/promises';

import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';
import { LiteServerError } from '../liteserver/errors.ts';
import { getMasterchainInfo } from '../liteserver/functions.ts';
import { LATE_TIMER_MS } from './attempts.ts';
import type { ZeroStateId } from './head.ts';
import type { Member } from './member.ts';
import type { PoolTuning } from './options.ts';
import { judge } from './verdict.ts';

/** Code of a lite server's "no such block yet" in answer to a wait: normal at the tip (service/liteserver/README.md#waiting-for-a-block). */
const WAIT_TIMED_OUT = 652;

/** Highest seqno of a block's full name (service/liteserver/README.md#block-ids). */
const SEQNO_MAX = 0x7fff_ffff;

/** Milliseconds for which a lite server that refused to wait is polled instead. */
const POLL_ONLY_MS = 10_000;

/** Least milliseconds between two waits. No network makes blocks faster, and a lite server that claims so is not asked faster. */
const REPORT_GAP_MS = 20;

/** Least part of its time that a wait without a block takes; otherwise the lite server does not wait. */
const WAITED_PART = 0.5;

/** Follows the newest masterchain block that one lite server reports, as long as the pool lives. */
export type HeadFollower = { close(): Promise<void> };

/**
 * Runs one loop for each lite server: ask for its newest block, then wait for the next one. The loop is also the probe that brings a lite server in
 * and back in. It is the first to notice a silent server.
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

  /** Waits for the end of an ejected server's pause, or less while no other server is usable. */
  async function sitOut(): Promise<void> {
    for (;;) {
      const { phase, outUntilMs } = member.health();
      const leftMs = outUntilMs - now();
      if (stop.signal.aborted || phase === 'in' || leftMs <= 0) return;
      await pause(Math.min(leftMs, tuning.urgentProbeMs));
      if (isUrgent()) member.readmitted();
    }
  }

  /** Repeats a failed read at a server that is out for reads; no caller waits for it. Returns false when it fails again. */
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

  /**
   * Asks for a report. Returns true when the lite server waited, for a newer block or in vain. The next wait then follows at once, so that no block
   * is missed between two waits.
   */
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
      // A late timer means that this process stood still, and answers wait to be read.
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
      // Closed during the pause; the loop checks the signal.
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
