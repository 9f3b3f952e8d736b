import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '#operator/kubernetes/client.ts';
import { systemClock } from '#operator/kubernetes/clock.ts';
import { createClientMetrics, createWatchMetrics } from '#operator/kubernetes/metrics.ts';
import { resources } from '#operator/kubernetes/resources.ts';
import { createWatched, type Watched } from '#operator/kubernetes/watched.ts';
import { createClusterClient, type ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startControlPlane, type ControlPlane } from '#test/support/control-plane.ts';

const objects = 100;
const changesEach = 100;
/** Every change of one round, over all objects, is made at once. */
const path = '/api/v1/namespaces/default/configmaps';

const nameOf = (at: number): string => `counted-${at}`;

/** A relay to the API server that can be cut: what went through it ends, and nobody gets in. */
type Relay = { readonly port: number; cut(): void; mend(): void; close(): Promise<void> };

async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server: Server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        sockets.delete(one);
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const drop = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      drop();
    },
    mend() {
      isCut = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        drop();
      }),
  };
}

describe.skipIf(await withoutControlPlane('an informer on an API server that forgets', 'ours'))(
  'an informer on an API server that keeps 4 s of history',
  () => {
    let plane: ControlPlane;
    let writer: ClusterClient;
    let relay: Relay;
    let watched: Watched;
    const register = new Registry();
    const seen = new Map<string, number>();
    let backwards = 0;

    beforeAll(async () => {
      const apiServerFlags = ['--watch-cache=false', '--etcd-compaction-interval=4s'];
      plane = await startControlPlane({ controllers: false, apiServerFlags });
      writer = createClusterClient({ ...plane, token: plane.adminToken });
      relay = await startRelay(Number(new URL(plane.server).port));
      const dispatcher = new Agent({ connect: { ca: plane.authority } });
      const headers = { authorization: `Bearer ${plane.adminToken}` };
      const credentials = {
        server: `https://127.0.0.1:${relay.port}`,
        namespace: undefined,
        current: async () => ({ dispatcher, headers }),
        reload: () => undefined,
        close: () => dispatcher.destroy(),
      };
      const tracer = trace.getTracer('test');
      const { now } = systemClock;
      const client = createClient({ credentials, metrics: createClientMetrics(register), tracer, now });
      watched = createWatched(
        { resource: resources.ConfigMap, namespaces: ['default'], labelSelector: 'counted=yes' },
        {
          client,
          clock: systemClock,
          random: Math.random,
          logger: pino({ level: 'silent' }),
          metrics: createWatchMetrics(register),
          onEvent({ object }) {
            const count = Number((object as { data?: { count?: string } }).data?.count);
            const { name } = object.metadata;
            if (count < (seen.get(name) ?? 0)) backwards += 1;
            seen.set(name, count);
          },
        },
      );
      await watched.synced;
    }, 200_000);
    afterAll(async () => {
      await watched?.close();
      await relay?.close();
      await writer?.close();
      await plane?.stop();
    }, 60_000);

    const restarts = async (reason: string): Promise<number> => {
      const metric = await register.getSingleMetric('ton_operator_watch_restarts_total')?.get();
      return metric?.values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
    };

    /** Once more when the API server is away. */
    async function change(at: number, count: number): Promise<void> {
      for (;;) {
        try {
          await writer.merge(`${path}/${nameOf(at)}`, { data: { count: `${count}` } });
          return;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      }
    }

    it(`misses none of ${objects * changesEach} changes over a kill, and over cuts that outlast the history`, async () => {
      for (let at = 0; at < objects; at++) {
        const metadata = { name: nameOf(at), labels: { counted: 'yes' } };
        await writer.create(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { count: '0' } });
      }
      for (let count = 1; count <= changesEach; count++) {
        if (count === 20 || count === 60) relay.cut();
        if (count === 40 || count === 80) {
          // At the end of each interval what was there at its beginning is forgotten; the third one is to be sure.
          await new Promise((resolve) => setTimeout(resolve, 13_000));
          relay.mend();
        }
        if (count === 50) await plane.restartApiServer();
        await Promise.all(Array.from({ length: objects }, (_, at) => change(at, count)));
      }
      await expect
        .poll(() => [...seen.values()].filter((count) => count !== changesEach).length, { timeout: 60_000 })
        .toBe(0);
      expect([seen.size, backwards]).toEqual([objects, 0]);
      expect(await restarts('expired')).toBeGreaterThanOrEqual(2);
    }, 300_000);
  },
);
