import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { CacheEvent } from '#operator/kubernetes/cache.ts';
import { createClient } from '#operator/kubernetes/client.ts';
import { systemClock, type Clock } from '#operator/kubernetes/clock.ts';
import type { Credentials } from '#operator/kubernetes/credentials.ts';
import { createClientMetrics, createWatchMetrics } from '#operator/kubernetes/metrics.ts';
import { resources } from '#operator/kubernetes/resources.ts';
import { createSharedInformer, type SharedInformer } from '#operator/kubernetes/shared-informer.ts';
import {
  configMap,
  event,
  json,
  list,
  refusal,
  startScriptedApiServer,
  watch,
  type ScriptedApiServer,
} from '#test/support/scripted-api-server.ts';

const versionsOf = (requests: readonly string[]): (string | null)[] =>
  requests.map((request) => new URL(request.slice(4), 'http://x').searchParams.get('resourceVersion'));

const inNamespace = (namespace: string, name: string, version: number): object => {
  const object = configMap(name, version) as { metadata: object };
  return { ...object, metadata: { ...object.metadata, namespace } };
};

describe('an informer', () => {
  let api: ScriptedApiServer;
  let watched: SharedInformer | undefined;
  let register: Registry;
  let events: string[];
  let reloads: number;
  let speed: number;
  let onEvent: (event: CacheEvent) => void;

  beforeEach(async () => {
    api = await startScriptedApiServer();
    register = new Registry();
    events = [];
    reloads = 0;
    speed = 20;
    onEvent = (seen) =>
      void events.push(`${seen.type} ${seen.object.metadata.name}@${seen.object.metadata.resourceVersion}`);
  });
  afterEach(async () => {
    await watched?.close();
    await api.close();
  });

  /** Pauses pass faster than on a clock: what is tested is that they are made, not how long they are. */
  const clock: Clock = {
    ...systemClock,
    after: (delayMs, call) => systemClock.after(delayMs / speed, call),
  };

  function start(namespaces?: readonly string[]): SharedInformer {
    const dispatcher = new Agent();
    const credentials: Credentials = {
      server: api.server,
      namespace: undefined,
      current: async () => ({ dispatcher, headers: {} }),
      reload: () => void (reloads += 1),
      close: () => dispatcher.destroy(),
    };
    const tracer = trace.getTracer('test');
    const client = createClient({ credentials, metrics: createClientMetrics(register), tracer, now: clock.now });
    watched = createSharedInformer(
      { resource: resources.ConfigMap, namespaces },
      {
        client,
        clock,
        random: () => 0.5,
        logger: pino({ level: 'silent' }),
        metrics: createWatchMetrics(register),
        onEvent: (seen) => onEvent(seen),
      },
    );
    return watched;
  }

  const restarts = async (reason: string): Promise<number> => {
    const metric = await register.getSingleMetric('ton_operator_watch_restarts_total')?.get();
    return metric?.values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
  };
  const watches = (): string[] => api.requests.filter((request) => request.includes('watch=true'));
  const lists = (): string[] => api.requests.filter((request) => !request.includes('watch=true'));

  it('lists page by page, then follows changes, and tells what was there at the start', async () => {
    const initial: boolean[] = [];
    onEvent = (seen) => {
      if (seen.type === 'added') initial.push(seen.initial);
    };
    api.play(
      json(200, { metadata: { resourceVersion: '5', continue: 'more' }, items: [configMap('a', 1)] }),
      list(5, configMap('b', 2)),
      watch([event('ADDED', configMap('c', 6))]),
    );
    const found = start();
    await found.synced;
    await expect.poll(() => found.size()).toBe(3);
    expect(initial).toEqual([true, true, false]);
    expect(lists()[1]).toContain('continue=more');
    expect(versionsOf(watches())).toEqual(['5']);
  });

  it('goes on at once from the last version when the server ends a watch in good order', async () => {
    api.play(
      list(5),
      watch([event('ADDED', configMap('a', 7))], (response) => response.end()),
      watch([event('BOOKMARK', configMap('', 9))], (response) => response.end()),
      watch([]),
    );
    start();
    await expect.poll(() => versionsOf(watches())).toEqual(['5', '7', '9']);
    expect(lists()).toHaveLength(1);
  });

  it('takes what comes twice, or after something newer of the same object, for nothing', async () => {
    api.play(
      list(5, configMap('a', 4)),
      watch([
        event('MODIFIED', configMap('a', 8)),
        event('MODIFIED', configMap('a', 6)),
        event('MODIFIED', configMap('a', 8)),
        event('ADDED', configMap('a', 4)),
        event('ADDED', configMap('b', 9)),
      ]),
    );
    const found = start();
    await expect.poll(() => events).toEqual(['added a@4', 'updated a@8', 'added b@9']);
    expect(found.get('ns/a')?.metadata.resourceVersion).toBe('8');
  });

  it('lists anew when the version is forgotten, in the stream or at once, and tells what has gone meanwhile', async () => {
    api.play(
      list(5, configMap('a', 1), configMap('b', 2)),
      watch([event('ERROR', { kind: 'Status', metadata: {}, code: 410, reason: 'Expired', message: 'too old' })]),
      refusal(410),
      list(20, configMap('b', 12)),
      watch([]),
    );
    const found = start();
    await expect.poll(() => versionsOf(watches())).toEqual(['5', '20']);
    await expect.poll(() => events).toEqual(['added a@1', 'added b@2', 'updated b@12', 'deleted a@1']);
    expect(found.get('ns/a')).toBeUndefined();
    expect(await restarts('expired')).toBe(2);
  });

  it('waits and goes on from the last version after a reset connection', async () => {
    api.play(
      list(5),
      watch([event('ADDED', configMap('a', 7))], (response) => response.destroy()),
      (_request, response) => void response.destroy(),
      watch([event('MODIFIED', configMap('a', 8))]),
    );
    start();
    await expect.poll(() => events).toEqual(['added a@7', 'updated a@8']);
    expect(versionsOf(watches())).toEqual(['5', '7', '7']);
    expect(lists()).toHaveLength(1);
  });

  it.each([
    ['a line that is no JSON', ['{"type":"ADDED","object":{"meta\n']],
    ['a line that is no event', ['{"type":"ADDED"}\n']],
    ['an event of a kind that nobody knows', [event('CHANGED', configMap('a', 7))]],
  ])('lists anew after %s: what was in it is lost', async (_what, lines) => {
    api.play(list(5), watch(lines), list(9, configMap('a', 7)), watch([]));
    start();
    await expect.poll(() => versionsOf(watches())).toEqual(['5', '9']);
    expect(events).toEqual(['added a@7']);
  });

  it('lists anew when the stream ends in the middle of a line', async () => {
    api.play(
      list(5),
      watch(['{"type":"ADDED","obj'], (response) => response.end()),
      list(9, configMap('a', 7)),
      watch([]),
    );
    start();
    await expect.poll(() => events).toEqual(['added a@7']);
  });

  it('puts lines together however the bytes come', async () => {
    const text = `${JSON.stringify(event('ADDED', configMap('ä', 7)))}\n${JSON.stringify(event('ADDED', configMap('b', 8)))}\n`;
    api.play(list(5), (_request, response) => {
      response.writeHead(200);
      const bytes = Buffer.from(text);
      let at = 0;
      const step = (): void => {
        if (at < bytes.length) response.write(bytes.subarray(at, (at += 7)), step);
      };
      step();
    });
    start();
    await expect.poll(() => events).toEqual(['added ä@7', 'added b@8']);
  });

  it('connects anew after three minutes of silence', async () => {
    speed = 1000;
    api.play(list(5), watch([]), watch([event('ADDED', configMap('a', 7))]));
    start();
    await expect.poll(() => events).toEqual(['added a@7']);
    expect(versionsOf(watches())).toEqual(['5', '5']);
    expect(await restarts('silent')).toBe(1);
  });

  it('waits as long as the server asks', async () => {
    speed = 1;
    const answered: number[] = [];
    const noting =
      (scene: ReturnType<typeof list>) =>
      (...both: Parameters<typeof scene>) => {
        answered.push(performance.now());
        scene(...both);
      };
    api.play(noting(refusal(429, { 'retry-after': '1' })), noting(list(5)), watch([]));
    await start().synced;
    expect((answered[1] ?? 0) - (answered[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('reads credentials anew when they are refused, and says so after three times', async () => {
    api.play(refusal(401), refusal(403), refusal(401), list(5), watch([]));
    const found = start();
    const seen: boolean[] = [];
    while (!found.hasSynced()) {
      seen.push(found.forbidden());
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen).toContain(true);
    expect(reloads).toBe(2);
    await expect.poll(() => found.forbidden()).toBe(false);
  });

  it('tells of another object under the same name as of a deletion and an addition', async () => {
    api.play(list(5, configMap('a', 1, 'first')), watch([event('MODIFIED', configMap('a', 7, 'second'))]));
    start();
    await expect.poll(() => events).toEqual(['added a@1', 'deleted a@1', 'added a@7']);
  });

  it('goes on when a handler fails, and counts it', async () => {
    const plain = onEvent;
    onEvent = (seen) => {
      plain(seen);
      if (seen.object.metadata.name === 'a') throw new Error('a bug');
    };
    api.play(list(5), watch([event('ADDED', configMap('a', 7)), event('ADDED', configMap('b', 8))]));
    start();
    await expect.poll(() => events).toEqual(['added a@7', 'added b@8']);
    expect(await register.metrics()).toContain('ton_operator_watch_handler_failures_total{resource="ConfigMap"} 1');
  });

  it('keeps what we wrote ourselves, unless the cache is newer or it was deleted since', async () => {
    api.play(list(5, configMap('a', 4)), watch([event('BOOKMARK', configMap('', 10))]));
    const found = start();
    await found.synced;
    await expect.poll(() => watches().length).toBe(1);
    const put = (name: string, version: number): void => found.put(configMap(name, version) as never);
    put('a', 12);
    put('a', 11);
    expect(found.get('ns/a')?.metadata.resourceVersion).toBe('12');
    // A name for each try: what is put before the bookmark arrives stays.
    let tries = 0;
    const putLate = (): unknown => {
      const name = `late-${tries++}`;
      put(name, 9);
      return found.get(`ns/${name}`);
    };
    await expect.poll(putLate).toBeUndefined();
    put('new', 13);
    expect(found.get('ns/new')?.metadata.resourceVersion).toBe('13');
  });

  it('watches each namespace by itself where it may not watch all, and tells deletions of that one only', async () => {
    let listsOfB = 0;
    api.play((request, response) => {
      const url = request.url ?? '';
      const isB = url.includes('/namespaces/b/');
      if (!url.includes('watch=true')) {
        if (isB) listsOfB += 1;
        const items = isB && listsOfB > 1 ? [] : [inNamespace(isB ? 'b' : 'a', 'x', 1)];
        list(listsOfB > 1 ? 9 : 5, ...items)(request, response);
      } else if (isB && listsOfB === 1) refusal(410)(request, response);
      else watch([])(request, response);
    });
    const found = start(['a', 'b']);
    await expect.poll(() => events).toContain('deleted x@1');
    expect(found.get('a/x')).toBeDefined();
    expect(found.get('b/x')).toBeUndefined();
  });

  /** Refuses everything in the namespaces, until they are taken out. */
  const refusing = (namespaces: Set<string>) =>
    api.play((request, response) => {
      const url = request.url ?? '';
      const namespace = /namespaces\/(\w+)\//.exec(url)?.[1] ?? '';
      if (namespaces.has(namespace)) refusal(403)(request, response);
      else if (url.includes('watch=true')) watch([])(request, response);
      else list(5, inNamespace(namespace, 'x', 1))(request, response);
    });
  const asked = (): number => lists().filter((request) => request.includes('/namespaces/b/')).length;
  const forbidden = async (): Promise<unknown[]> => {
    const metric = await register.getSingleMetric('ton_operator_watch_forbidden')?.get();
    return (metric?.values ?? []).map(({ labels, value }) => [labels['namespace'], value]);
  };

  it('takes a namespace that is refused for long as empty and alarms, and reads it once it may', async () => {
    const gone = new Set(['b']);
    refusing(gone);
    const found = start(['a', 'b']);
    await found.synced;
    expect([...found.list()].map(({ metadata }) => metadata.namespace)).toEqual(['a']);
    expect([found.hasSynced(), found.forbidden(), found.isUnknown('a'), found.isUnknown('b')]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(await forbidden()).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    gone.clear();
    await expect.poll(() => found.get('b/x')).toBeDefined();
    await expect.poll(() => found.isUnknown('b')).toBe(false);
    await expect.poll(() => forbidden()).toContainEqual(['b', 0]);
  });

  it('is not filled while every namespace is refused', async () => {
    refusing(new Set(['a', 'b']));
    const found = start(['a', 'b']);
    await expect.poll(() => found.forbidden()).toBe(true);
    expect(found.hasSynced()).toBe(false);
  });

  it('asks a namespace that stays refused less often', async () => {
    speed = 1000;
    refusing(new Set(['b']));
    await start(['a', 'b']).synced;
    const before = asked();
    const startedMs = performance.now();
    await expect.poll(asked).toBeGreaterThan(before + 2);
    // Two pauses of 30 s at this speed; the pauses of errors are at most 4 s.
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(55);
  });
});
