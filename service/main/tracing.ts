import type { Logger } from 'pino';

import type { ServiceConfig } from '../config.ts';
import { createTracing, type Tracing } from '../telemetry/tracer.ts';

/** Traces of a process of the service, as the configuration wants them. */
export function startTracing(config: ServiceConfig, version: string, logger: Logger): Promise<Tracing> {
  const resource = {
    'service.name': 'tonplane',
    'service.version': version,
    'tonplane.api': config.name,
    'tonplane.network': config.network,
  };
  return createTracing({ tracing: config.observability.tracing, resource }, { logger });
}
