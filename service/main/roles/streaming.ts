import type { ServiceConfig } from '#service/config.ts';
import { StartError } from '../errors.ts';

/**
 * Returns the configuration of a process that serves streams alone: the API without its other surfaces.
 * @throws StartError `streams_unwanted`
 */
export function streamsAlone(config: ServiceConfig): ServiceConfig {
  if (config.surfaces.includes('stream')) return { ...config, surfaces: ['stream'] };
  throw new StartError({
    code: 'streams_unwanted',
    message: `spec.surfaces: expected stream among them, got ${JSON.stringify(config.surfaces)}`,
    data: {},
    retryable: false,
  });
}
