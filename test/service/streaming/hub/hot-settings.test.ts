import { describe, expect, it } from 'vitest';

import { configFromManifest } from '#service/config.ts';
import type { TraceSnapshot } from '#service/streaming/changes.ts';
import { streamingDefaults, type StreamSettings } from '#service/config/streaming.ts';
import { manifestOf } from '#test/service/config/manifest-builder.ts';
import { account, createHubUnderTest, hash, trace, transaction } from './hub-under-test.ts';

const a = account('A');

const shown = (number: number, text = ''): TraceSnapshot =>
  trace(hash(number), { transactions: [transaction(`t${number}`, a, { text })] });

type Change = { readonly [Part in 'replay' | 'queue']?: Partial<StreamSettings[Part]> };

/** A hub whose settings change while it runs. */
function createChanging(): ReturnType<typeof createHubUnderTest> & { readonly set: (change: Change) => void } {
  let settings = streamingDefaults;
  const scene = createHubUnderTest({ settings: () => settings });
  return {
    ...scene,
    set({ replay, queue }) {
      settings = {
        ...settings,
        replay: { ...settings.replay, ...replay },
        queue: { ...settings.queue, ...queue },
      };
    },
  };
}

describe('settings of streams', () => {
  it('are the same without any in the manifest as without a manifest', () => {
    const manifests = [undefined, {}, { maxConnectionsPerPod: 20_000 }, { replay: {}, queue: {} }];
    for (const streaming of manifests) {
      const config = configFromManifest(manifestOf((spec) => void (streaming && (spec['streaming'] = streaming))));
      expect(config.streaming).toEqual(streamingDefaults);
    }
  });

  it('bound the unsent events of a connection that is open already', async () => {
    const { block, open, set } = createChanging();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    caller.stall(true);
    await block(shown(1, 'x'.repeat(70_000)));
    for (let number = 2; number <= 17; number++) await block(shown(number));
    set({ queue: { eventsPerConnection: 16 } });
    expect(caller.ended()).toBeUndefined();
    await block(shown(18));
    expect(caller.ended()).toMatchObject({ code: 1013 });
  });

  it('bound the unsent bytes of a connection, and of all connections', async () => {
    const { block, open, set } = createChanging();
    const callers = [open(), open()];
    for (const caller of callers) {
      await caller.subscribe({ accounts: new Set([a]) });
      caller.stall(true);
    }
    for (const number of [1, 2]) await block(shown(number, 'x'.repeat(70_000)));
    set({ queue: { bytesPerPod: 200_000 } });
    await block(shown(3, 'x'.repeat(70_000)));
    expect(callers.filter((caller) => caller.ended() !== undefined)).toHaveLength(1);
    set({ queue: { bytesPerConnection: 150_000 } });
    await block(shown(4, 'x'.repeat(70_000)));
    expect(callers.map((caller) => caller.ended()?.code)).toEqual([1013, 1013]);
  });

  it('let a connection with a small queue resume from far behind', async () => {
    const { block, open, set } = createChanging();
    const first = open();
    await first.subscribe({ accounts: new Set([a]) });
    await block(shown(1));
    const cursor = first.connection.cursor();
    first.connection.close();
    for (let number = 2; number <= 60; number++) await block(shown(number));
    set({ queue: { eventsPerConnection: 16 } });
    const again = open();
    again.stall(true);
    again.onEvent = () => void setImmediate(() => again.stall(false));
    await again.subscribe({ accounts: new Set([a]) }, cursor);
    expect(again.events).toHaveLength(59);
    expect(again.ended()).toBeUndefined();
  });

  it('say for how long a cut connection resumes at each level', async () => {
    const { open, clock, set } = createChanging();
    const wish = { accounts: new Set([a]), minFinality: 'pending' as const };
    for (const [shortMs, waitedMs, resumed] of [
      [60_000, 59_999, 'full'],
      [60_000, 60_000, 'finalized'],
      [1_800_000, 1_799_999, 'full'],
    ] as const) {
      set({ replay: { shortMs } });
      const cut = open();
      await cut.subscribe(wish);
      cut.connection.close();
      clock.nowMs += waitedMs;
      const again = open();
      await again.subscribe(wish, cut.begun[0]!.cursor);
      expect(again.begun).toMatchObject([{ resumed }]);
    }
  });

  it('say for how long a record stays after the time of a resume', async () => {
    const { hub, open, clock, set, register } = createChanging();
    await open().subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    set({ replay: { shortMs: 60_000 } });
    const records = async (): Promise<string> => register.getSingleMetricAsString('ton_streaming_levels_records');
    await hub.publish([{ ...shown(1), finality: 'pending' }]);
    clock.nowMs += 60_000 + 299_999;
    await hub.publish([{ ...shown(2), finality: 'pending' }]);
    expect(await records()).toMatch(/ 2$/);
    clock.nowMs += 1;
    await hub.publish([{ ...shown(3), finality: 'pending' }]);
    expect(await records()).toMatch(/ 2$/);
  });

  it('bound the events of one resume, whose end has a cursor for the rest', async () => {
    const { block, open, set } = createChanging();
    const first = open();
    await first.subscribe({ accounts: new Set([a]) });
    await block(shown(1));
    let cursor = first.connection.cursor();
    first.connection.close();
    for (let number = 2; number <= 26; number++) await block(shown(number));
    set({ replay: { events: 10 } });
    const counts: number[] = [];
    for (let at = 0; at < 3; at++) {
      const again = open();
      await again.subscribe({ accounts: new Set([a]) }, cursor);
      counts.push(again.events.length);
      cursor = again.ended()?.cursor ?? again.connection.cursor();
    }
    expect(counts).toEqual([10, 10, 5]);
  });
});
