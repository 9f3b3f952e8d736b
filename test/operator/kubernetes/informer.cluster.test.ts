import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '#operator/kubernetes/client.ts';
import { systemClock } from '#operator/kubernetes/clock.ts';
import { createClientMetrics, createWatchMetrics } from '#operator/kubernetes/metrics.ts';
import { resources } from '#operator/kubernetes/resources.ts';
import { createSharedInformer, type SharedInformer } from '#operator/kubernetes/shared-informer.ts';
import { ClusterError, createClusterClient, type ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startControlPlane, type ControlPlane } from '#test/support/control-plane.ts';
import { startTcpRelay, type TcpRelay } from '#test/support/tcp-relay.ts';

const objects = 100;
const changesEach = 100;
/** Every change of one round, over all objects, is made at once. */
const path = '/api/v1/namespaces/default/configmaps';

const nameOf = (at: number): string => `counted-${at}`;

describe.skipIf(await withoutControlPlane('an informer on an API server that forgets', 'ours'))(
  'an informer on an API server that keeps 4 s of history',
  () => {
    let plane: ControlPlane;
    let writer: ClusterClient;
    let relay: TcpRelay;
    let watched: SharedInformer;
    const register = new Registry();
    const seen = new Map<string, number>();
    let backwards = 0;

    beforeAll(async () => {
      const apiServerFlags = ['--watch-cache=false', '--etcd-compaction-interval=4s'];
      plane = await startControlPlane({ controllers: false, apiServerFlags });
      writer = createClusterClient({ ...plane, token: plane.adminToken });
      relay = await startTcpRelay(new URL(plane.server).host);
      const dispatcher = new Agent({ connect: { ca: plane.authority } });
      const headers = { authorization: `Bearer ${plane.adminToken}` };
      const credentials = {
        server: `https://${relay.address}`,
        namespace: undefined,
        current: async () => ({ dispatcher, headers }),
        reload: () => undefined,
        close: () => dispatcher.destroy(),
      };
      const tracer = trace.getTracer('test');
      const { now } = systemClock;
      const client = createClient({ credentials, metrics: createClientMetrics(register), tracer, now });
      watched = createSharedInformer(
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
    });
    afterAll(async () => {
      await watched?.close();
      await relay?.close();
      await writer?.close();
      await plane?.stop();
    });

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

    /** What was the newest version at its call: at the end of each interval the server forgets what was there at its beginning. */
    async function untilForgotten(): Promise<void> {
      const { metadata } = await writer.get(`${path}?limit=1`);
      const asOf = `${path}?limit=1&resourceVersionMatch=Exact&resourceVersion=${metadata['resourceVersion']}`;
      const statusOf = (): Promise<number> =>
        writer.get(asOf).then(
          () => 200,
          (error: unknown) => (error instanceof ClusterError ? error.status : 0),
        );
      await expect.poll(statusOf, { interval: 500 }).toBe(410);
    }

    /** It comes back some seconds after the first cut is mended, and lists all; before that a second cut would be none. */
    async function untilBack(count: number): Promise<void> {
      await expect.poll(() => restarts('expired')).toBeGreaterThanOrEqual(1);
      await untilSeen(count);
    }

    async function untilSeen(count: number): Promise<void> {
      const others = (): number => [...seen.values()].filter((one) => one !== count).length;
      await expect.poll(others).toBe(0);
    }

    it(`misses none of ${objects * changesEach} changes over a kill, and over cuts that outlast the history`, async () => {
      for (let at = 0; at < objects; at++) {
        const metadata = { name: nameOf(at), labels: { counted: 'yes' } };
        await writer.create(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { count: '0' } });
      }
      for (let count = 1; count <= changesEach; count++) {
        if (count === 60) await untilBack(count - 1);
        if (count === 20 || count === 60) relay.cut();
        if (count === 40 || count === 80) {
          await untilForgotten();
          relay.mend();
        }
        if (count === 50) await plane.restartApiServer();
        await Promise.all(Array.from({ length: objects }, (_, at) => change(at, count)));
      }
      await untilSeen(changesEach);
      expect([seen.size, backwards]).toEqual([objects, 0]);
      expect(await restarts('expired')).toBeGreaterThanOrEqual(2);
    });
  },
);
