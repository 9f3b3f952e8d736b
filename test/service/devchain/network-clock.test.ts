import { describe, expect, it } from 'vitest';

import { createNetworkClock } from '#service/devchain/network-clock.ts';

function openClock(newest: number) {
  const state = { nowMs: 1_000_000, newest };
  return { state, clock: createNetworkClock({ now: () => state.nowMs, newestUtime: () => state.newest }) };
}

describe('the clock of a private network', () => {
  it('begins at the newest block of a stored network that is ahead of the machine', () => {
    const { clock } = openClock(1_060);
    expect(clock.utime()).toBe(1_060);
    expect(clock.aheadSeconds()).toBe(60);
  });

  it('moves forward by skipped seconds and with the machine', () => {
    const { clock, state } = openClock(0);
    clock.advance(3_600);
    state.nowMs += 5_000;
    expect(clock.utime()).toBe(4_605);
    expect(clock.aheadSeconds()).toBe(3_600);
  });

  it('continues from a named time of the next block', () => {
    const { clock, state } = openClock(0);
    clock.setNext(2_000);
    expect(clock.utime()).toBe(1_000);
    expect(clock.blockUtime()).toBe(2_000);
    clock.blockMade();
    state.nowMs += 7_000;
    expect(clock.blockUtime()).toBe(2_007);
  });
});
