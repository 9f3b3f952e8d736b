import type { Logger } from 'pino';

import { startOfBytes } from './bounded-text.ts';
import type { KubernetesClient } from './client.ts';
import type { Clock } from './clock.ts';
import { microTime, type KubernetesObject } from './object.ts';
import { resources } from './resources.ts';

/** Event of an object, reported once. Only transitions and failures, nothing periodic. */
type EventRecord = {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase word. */
  readonly reason: string;
  /** Action of the operator, a CamelCase word. */
  readonly action: string;
  readonly note: string;
};

export type EventRecorder = {
  /** Never fails: an event that cannot be written is logged. */
  record(about: KubernetesObject, happening: EventRecord, signal?: AbortSignal): Promise<void>;
};

type EventRecorderDependencies = {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of this process: that of its pod. */
  readonly instance: string;
};

/** The same reason on the same object within this is one event that counts. */
const SERIES_MS = 600_000;

/** Series remembered; the oldest are forgotten first. */
const SERIES_MAX = 5000;

/** Bounds of the API server on the texts of an event, in bytes. */
const NOTE_BYTES_MAX = 1024;
const INSTANCE_BYTES_MAX = 128;

type Series = { readonly name: string; readonly namespace: string; readonly startedMs: number; count: number };

export function createEventRecorder({ client, clock, logger, instance }: EventRecorderDependencies): EventRecorder {
  const known = new Map<string, Series>();

  function eventOf(about: KubernetesObject, happening: EventRecord, name: string): KubernetesObject {
    const { apiVersion, kind, metadata } = about;
    const { namespace = 'default', uid, resourceVersion } = metadata;
    return {
      apiVersion: resources.Event.apiVersion,
      kind: 'Event',
      metadata: { namespace, name },
      eventTime: microTime(clock.unixMs()),
      reportingController: 'tonplane.dev/operator',
      reportingInstance: startOfBytes(instance, INSTANCE_BYTES_MAX),
      regarding: { apiVersion, kind, namespace, name: metadata.name, uid, resourceVersion },
      ...happening,
      note: startOfBytes(happening.note, NOTE_BYTES_MAX),
    };
  }

  /** Series that this event continues, if the series is younger than the bound. */
  function seriesOf(key: string): Series | undefined {
    const series = known.get(key);
    return series !== undefined && clock.now() - series.startedMs < SERIES_MS ? series : undefined;
  }

  function remember(key: string, series: Series): void {
    known.delete(key);
    known.set(key, series);
    const [oldest] = known.keys();
    if (known.size > SERIES_MAX && oldest !== undefined) known.delete(oldest);
  }

  return {
    async record(about, happening, signal) {
      const { namespace = 'default', name, uid = '' } = about.metadata;
      const key = `${about.kind}/${uid}/${happening.reason}`;
      const series = seriesOf(key);
      try {
        if (series !== undefined) {
          series.count += 1;
          // The note of the first event stays: the API server allows no other change of an event.
          const change = { series: { count: series.count, lastObservedTime: microTime(clock.unixMs()) } };
          await client.patch(resources.Event, series, change, { signal });
          return;
        }
        const eventName = `${name.slice(0, 200)}.${BigInt(Math.round(clock.unixMs() * 1000)).toString(16)}.${happening.reason.toLowerCase()}`;
        remember(key, { name: eventName, namespace, startedMs: clock.now(), count: 1 });
        await client.create(eventOf(about, happening, eventName), { signal });
      } catch (error) {
        logger.warn(
          { err: error instanceof Error ? error.message : error, reason: happening.reason },
          'event not written',
        );
      }
    },
  };
}
