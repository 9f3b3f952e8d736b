import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { pino } from 'pino';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import type { KubernetesClient } from '#operator/kubernetes/client.ts';
import { createElector, type Elector } from '#operator/kubernetes/elector.ts';
import { fromStatus, noAnswer } from '#operator/kubernetes/errors.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createVirtualClock, type VirtualClock } from '#test/support/virtual-clock.ts';

/** The one Lease of an API server, with optimistic locking; reachable or not, as each client is told. */
function createLeases() {
  let stored: KubernetesObject | undefined;
  let version = 0;
  const store = (lease: KubernetesObject): KubernetesObject => {
    version += 1;
    stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(version) } };
    return stored;
  };
  const clientOf = (reachable: () => boolean): KubernetesClient => {
    const check = (): void => {
      if (!reachable()) throw noAnswer('Lease', new Error('connection refused'));
    };
    return {
      async get() {
        check();
        return stored;
      },
      async create(lease: KubernetesObject) {
        check();
        if (stored !== undefined) throw fromStatus('POST', 409, {}, undefined);
        return store(lease);
      },
      async replace(lease: KubernetesObject) {
        check();
        if (stored?.metadata.resourceVersion !== lease.metadata.resourceVersion) {
          throw fromStatus('PUT', 409, {}, undefined);
        }
        return store(lease);
      },
    } as unknown as KubernetesClient;
  };
  return { clientOf, spec: () => stored?.spec };
}

type Candidate = { readonly elector: Elector; readonly clock: VirtualClock; reachable: boolean };

function candidate(leases: ReturnType<typeof createLeases>, clock: VirtualClock, identity: string): Candidate {
  const leading = new Gauge({
    name: 'leader_election_master_status',
    help: 'test',
    labelNames: ['name'],
    registers: [new Registry()],
  });
  const self = { reachable: true } as { -readonly [K in keyof Candidate]: Candidate[K] };
  self.clock = clock;
  self.elector = createElector(
    { namespace: 'ns', name: 'ton-operator', identity },
    {
      client: leases.clientOf(() => self.reachable),
      clock,
      random: () => 0.5,
      logger: pino({ level: 'silent' }),
      leading,
    },
  );
  return self;
}

/** Whether a promise has resolved so far. */
function noted(promise: Promise<void>): () => boolean {
  let done = false;
  const note = async (): Promise<void> => {
    await promise;
    done = true;
  };
  void note();
  return () => done;
}

describe('an elector', () => {
  it('takes a Lease that nobody has, and keeps it', async () => {
    const clock = createVirtualClock();
    const leases = createLeases();
    const { elector } = candidate(leases, clock, 'a');
    await clock.advance(60_000);
    expect(elector.isLeading()).toBe(true);
    expect(leases.spec()).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
  });

  it('writes times with the six digits that the API server asks for', async () => {
    const clock = createVirtualClock();
    const leases = createLeases();
    candidate(leases, clock, 'a');
    await clock.advance(10_000);
    expect(leases.spec()?.['renewTime']).toMatch(/^2026-11-21T00:00:\d\d\.\d{6}Z$/);
  });

  it('leaves the Lease to its holder, and takes it 15 s after the holder was heard of last', async () => {
    const clock = createVirtualClock();
    const leases = createLeases();
    const first = candidate(leases, clock, 'a');
    await clock.advance(5000);
    const second = candidate(leases, clock, 'b');
    await clock.advance(60_000);
    expect([first.elector.isLeading(), second.elector.isLeading()]).toEqual([true, false]);
    first.reachable = false;
    await clock.advance(14_000);
    expect(second.elector.isLeading()).toBe(false);
    await clock.advance(4500);
    expect(second.elector.isLeading()).toBe(true);
    expect(leases.spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('stops writing 10 s after it last renewed, and tells that it has lost', async () => {
    const clock = createVirtualClock();
    const first = candidate(createLeases(), clock, 'a');
    const lost = noted(first.elector.lost);
    await clock.advance(30_000);
    first.reachable = false;
    await clock.advance(7000);
    expect({ leading: first.elector.isLeading(), lost: lost() }).toEqual({ leading: true, lost: false });
    await clock.advance(3500);
    expect({ leading: first.elector.isLeading(), lost: lost() }).toEqual({ leading: false, lost: true });
    first.reachable = true;
    await clock.advance(60_000);
    expect(first.elector.isLeading()).toBe(false);
  });

  it('may not write when it wakes from a freeze, before any alarm of its own has rung', async () => {
    const clock = createVirtualClock();
    const first = candidate(createLeases(), clock, 'a');
    await clock.advance(30_000);
    clock.freeze(20_000);
    expect(first.elector.isLeading()).toBe(false);
  });

  it('judges by its own clock: a holder whose clock is hours off is neither robbed nor waited for', async () => {
    const clock = createVirtualClock();
    const leases = createLeases();
    const ahead = { ...clock, unixMs: () => clock.unixMs() + 6 * 3_600_000 };
    const first = candidate(leases, ahead, 'a');
    await clock.advance(5000);
    const second = candidate(leases, clock, 'b');
    await clock.advance(60_000);
    expect(second.elector.isLeading()).toBe(false);
    first.reachable = false;
    await clock.advance(18_500);
    expect(second.elector.isLeading()).toBe(true);
  });

  it('gives the Lease up at its end, so that the next leads within 3 s', async () => {
    const clock = createVirtualClock();
    const leases = createLeases();
    const first = candidate(leases, clock, 'a');
    await clock.advance(5000);
    const second = candidate(leases, clock, 'b');
    await clock.advance(5000);
    await first.elector.close();
    expect(leases.spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(3000);
    expect(second.elector.isLeading()).toBe(true);
  });

  it('never lets two write at once, whatever freezes, breaks and comes back (100 seeded schedules)', async () => {
    const step = record({
      who: integer({ min: 0, max: 2 }),
      what: constantFrom('freeze', 'cut', 'mend', 'wait'),
      ms: integer({ min: 100, max: 25_000 }),
    });
    await assert(
      asyncProperty(array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        const leases = createLeases();
        const clocks = [createVirtualClock(), createVirtualClock(), createVirtualClock()];
        const all = clocks.map((clock, at) => candidate(leases, clock, `operator-${at}`));
        const overlaps = (): number => all.filter(({ elector }) => elector.isLeading()).length;
        const frozenUntil = [0, 0, 0];
        let nowMs = 0;
        /** All clocks show the same time; those of frozen processes move without ringing. */
        const pass = async (ms: number): Promise<void> => {
          const endMs = nowMs + ms;
          while (nowMs < endMs) {
            nowMs += 500;
            for (const [at, clock] of clocks.entries()) {
              if ((frozenUntil[at] ?? 0) >= nowMs) clock.freeze(500);
              else await clock.advance(500);
            }
            expect(overlaps()).toBeLessThanOrEqual(1);
          }
        };
        await pass(3000);
        for (const { who, what, ms } of steps) {
          const chosen = all[who];
          if (what === 'freeze') frozenUntil[who] = nowMs + ms;
          if (chosen !== undefined && what === 'cut') chosen.reachable = false;
          if (chosen !== undefined && what === 'mend') chosen.reachable = true;
          await pass(what === 'wait' ? ms : 1000);
        }
      }),
      { seed: 20_261_121, numRuns: 100 },
    );
  });
});
