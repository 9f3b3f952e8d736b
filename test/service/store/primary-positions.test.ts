import { describe, expect, it } from 'vitest';

import { createPrimaryPositions } from '#service/store/primary-positions.ts';

/** The primary was seen at positions, one a second from second 0 on. */
function seenAt(...seen: readonly bigint[]) {
  const positions = createPrimaryPositions();
  seen.forEach((position, second) => positions.look()(position, second * 1000));
  return positions;
}

describe('the lag of a replica', () => {
  it.each([
    ['it has all', 30n, 0],
    ['it has more than the primary was seen with', 31n, 0],
    ['it lacks the newest', 29n, 8000],
    ['it has the first alone', 10n, 9000],
    ['it has nothing', 0n, 10_000],
  ])('counts from the first moment at which the primary had what the replica lacks: %s', (_case, position, lagMs) => {
    expect(seenAt(10n, 20n, 30n).lagMs(position, 10_000)).toBe(lagMs);
  });

  it('does not grow while the primary is idle', () => {
    expect(seenAt(10n, 20n, 20n, 20n, 20n).lagMs(20n, 3_600_000)).toBe(0);
    expect(seenAt(10n, 20n, 20n, 20n, 20n).lagMs(10n, 10_000)).toBe(9000);
  });

  it('is exact to a hundredth over hours', () => {
    const hours = seenAt(...Array.from({ length: 10_000 }, (_, second) => BigInt(second + 1)));
    for (const position of [0n, 1000n, 5000n, 9000n, 9990n]) {
      const exactMs = (10_000 - Number(position)) * 1000;
      expect(Math.abs(hours.lagMs(position, 10_000_000) - exactMs)).toBeLessThanOrEqual(exactMs / 100);
    }
  });
});

describe('the floor', () => {
  it('only rises', () => {
    const positions = seenAt(10n);
    expect(positions.floor()).toBe(0n);
    positions.raiseFloor(12n);
    positions.raiseFloor(11n);
    expect(positions.floor()).toBe(12n);
  });

  it('begins again in a database that ends before the floor or before an earlier look, as after a failover', () => {
    const shown = seenAt(10n);
    shown.raiseFloor(15n);
    shown.look()(14n, 5000);
    expect([shown.floor(), shown.lagMs(13n, 6000), shown.lagMs(14n, 6000)]).toEqual([14n, 1000, 0]);
    const seen = seenAt(10n, 20n);
    seen.look()(19n, 5000);
    expect([seen.floor(), seen.lagMs(0n, 6000)]).toEqual([19n, 1000]);
  });

  it('stays when an answer raises it during a look that began before', () => {
    const positions = seenAt(10n);
    const look = positions.look();
    positions.raiseFloor(12n);
    look(11n, 5000);
    expect(positions.floor()).toBe(12n);
  });
});
