import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { startHeartbeat } from '#service/runtime/heartbeat.ts';

const logger = pino({ level: 'silent' });

describe('the heartbeat of a claim', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('comes four times as often as the claim would run out, also after one that failed, until it is ended', async () => {
    const beat = vi.fn<() => Promise<void>>(() => Promise.reject(new Error('Postgres is away')));
    const end = startHeartbeat({ claimMs: 400, beat }, { logger });
    await vi.advanceTimersByTimeAsync(450);
    expect(beat).toHaveBeenCalledTimes(4);
    end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(beat).toHaveBeenCalledTimes(4);
  });

  it('is not followed by another while it waits, as for a batch that holds its row: each would keep a connection', async () => {
    const waiting: (() => void)[] = [];
    const beat = vi.fn<() => Promise<void>>(() => new Promise<void>((resolve) => waiting.push(resolve)));
    const end = startHeartbeat({ claimMs: 400, beat }, { logger });
    await vi.advanceTimersByTimeAsync(2000);
    expect(beat).toHaveBeenCalledTimes(1);
    waiting[0]!();
    await vi.advanceTimersByTimeAsync(100);
    expect(beat).toHaveBeenCalledTimes(2);
    end();
  });
});
