import { hostname } from 'node:os';

import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import type { Explorer } from '#service/explorer/explorer.ts';
import {
  createInternalServer,
  type InternalPage,
  type InternalPost,
  type InternalServer,
  type Readiness,
} from '#service/http/internal-server.ts';
import { internalIndex } from './internal-index.ts';
import { createHistory, hour } from '../status/history.ts';
import { readFigures } from '../status/readings.ts';
import { renderStatus, statusPagePolicy, type Status } from '../status/status-page.ts';

export type InternalOptions = {
  /** Pages of the internal listener besides its own. */
  readonly pages?: ReadonlyMap<string, () => InternalPage>;
  readonly internalPosts?: ReadonlyMap<string, InternalPost>;
  /** Address of the internal listener; default: the address of the public listener. */
  readonly internalHost?: string;
};

/** Probes, metrics and status of a process of the service. */
export function createInternal(
  { listen, http }: Pick<ServiceConfig, 'listen' | 'http'>,
  { pages, internalPosts, internalHost }: InternalOptions,
  dependencies: {
    readonly register: Registry;
    readonly readiness: () => Readiness;
    readonly status: () => Status;
    readonly explorer?: Explorer | undefined;
  },
): InternalServer {
  const { status, explorer, ...further } = dependencies;
  const history = createHistory(hour, {
    read: () => readFigures(status(), dependencies.register),
    nowMs: () => performance.now(),
  });
  const links = { ...(explorer && { Explorer: '/explorer' }), 'Internal port': '/', Metrics: '/metrics' };
  const server = createInternalServer(
    {
      host: internalHost ?? listen.host,
      port: listen.internalPort,
      // The name of a pod is its host name.
      names: [hostname(), ...http.internalNames],
    },
    {
      ...further,
      status,
      ...(explorer && { explorer }),
      statusPage: () => ({
        contentType: 'text/html; charset=utf-8',
        body: renderStatus(status(), performance.now(), { curves: history.curves(), links }),
        contentSecurityPolicy: statusPagePolicy,
      }),
      pages: new Map([
        ...(pages ?? []),
        ['/', () => internalIndex([...(explorer ? ['/explorer'] : []), ...(pages ?? new Map()).keys()])],
      ]),
      posts: internalPosts ?? new Map(),
    },
  );
  return {
    listen: () => server.listen(),
    close() {
      history.close();
      return server.close();
    },
  };
}
