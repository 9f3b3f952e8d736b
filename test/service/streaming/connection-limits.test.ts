import { afterEach, describe, expect, it } from 'vitest';

import {
  createConnectionLimits,
  type ConnectionLimits,
  type SharedLeases,
} from '#service/streaming/connection-limits.ts';

let limits: ConnectionLimits;
afterEach(() => limits.close());

/** Takes a place and remembers whether it was replaced. */
async function take(connection: number, more: { owner?: string; max?: number; replaced?: number } = {}) {
  const { owner = 'key a', max = 2, replaced } = more;
  const place = { isGranted: false, isReplaced: false };
  place.isGranted = await limits.take({ owner, connection, max, replaced }, () => (place.isReplaced = true));
  return place;
}

describe('connections of a caller in one process', () => {
  it('are at most those of the plan, and a freed place is granted again', async () => {
    limits = createConnectionLimits();
    const granted = [await take(1), await take(2), await take(3)].map(({ isGranted }) => isGranted);
    expect(granted).toEqual([true, true, false]);
    limits.free('key a', 3);
    expect((await take(4)).isGranted).toBe(false);
    limits.free('key a', 1);
    expect((await take(5)).isGranted).toBe(true);
  });

  it('of two callers count apart', async () => {
    limits = createConnectionLimits();
    expect(await take(1, { max: 1 })).toMatchObject({ isGranted: true });
    expect(await take(2, { max: 1, owner: 'key b' })).toMatchObject({ isGranted: true });
  });

  it('take the place of the connection that a cursor names, when it is of the same caller', async () => {
    limits = createConnectionLimits();
    const first = await take(1, { max: 1 });
    const other = await take(2, { max: 1, owner: 'key b' });
    expect(await take(3, { max: 1, replaced: 2 })).toMatchObject({ isGranted: false });
    expect(await take(4, { max: 1, replaced: 1 })).toMatchObject({ isGranted: true });
    expect([first.isReplaced, other.isReplaced]).toEqual([true, false]);
    // The replaced connection closes later and must not free the place of its successor.
    limits.free('key a', 1);
    expect(await take(5, { max: 1 })).toMatchObject({ isGranted: false });
  });

  it('stay when they take the place of another one later, although the plan has fewer by now', async () => {
    limits = createConnectionLimits();
    const places = [await take(1), await take(2)];
    expect(await take(2, { max: 0, replaced: 9 })).toMatchObject({ isGranted: true });
    expect(await take(2, { max: 0, replaced: 1 })).toMatchObject({ isGranted: true });
    expect(places.map(({ isReplaced }) => isReplaced)).toEqual([true, false]);
  });
});

function leases(granted: Promise<boolean>) {
  const freed: number[] = [];
  const shared: SharedLeases = {
    take: () => granted,
    renew: () => Promise.resolve(true),
    free: (_owner, connection) => void freed.push(connection),
  };
  return { shared, freed };
}

describe('connections of a caller over all pods', () => {
  it('are refused when the shared count refuses them', async () => {
    limits = createConnectionLimits(leases(Promise.resolve(false)).shared);
    expect(await take(1)).toMatchObject({ isGranted: false });
  });

  it('give a place back that is granted after its caller went away', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { shared, freed } = leases(promise);
    limits = createConnectionLimits(shared);
    const place = take(1);
    limits.free('key a', 1);
    resolve(true);
    expect(await place).toMatchObject({ isGranted: false });
    expect(freed).toEqual([1, 1]);
  });
});
