import type { Logger } from 'pino';

import type { ServiceConfig } from '#service/config.ts';
import { createTracing, type Tracing } from '#service/telemetry/tracer.ts';

/** Traces of a process of the service, as the configuration wants them. @param ca certificates in PEM that the collector's must come from */
export function startTracing(
  config: ServiceConfig,
  ca: string | undefined,
  version: string,
  logger: Logger,
): Promise<Tracing> {
  const resource = {
    'service.name': 'tonplane',
    'service.version': version,
    'tonplane.api': config.name,
    'tonplane.network': config.network,
  };
  const { tracing } = config.observability;
  return createTracing({ tracing: tracing && { ...tracing, ca }, resource }, { logger });
}
