import { createCache, type Cache, type CacheEvent, type CacheOptions } from './cache.ts';
import { createInformer, type Informer, type InformerDependencies, type InformerOptions } from './informer.ts';

/** Objects of one kind, watched: the cache to read and the informer that keeps it. */
export type SharedInformer = Pick<Cache, 'get' | 'list' | 'indexed' | 'size' | 'put'> & Informer;

type SharedInformerDependencies = Omit<InformerDependencies, 'cache'> & {
  /** Called for every change, in order. Its errors are counted and logged, and the watch continues. */
  readonly onEvent: (event: CacheEvent) => void;
};

export function createSharedInformer(
  options: InformerOptions & CacheOptions,
  dependencies: SharedInformerDependencies,
): SharedInformer {
  const { onEvent, logger, metrics } = dependencies;
  const { kind } = options.resource;
  const cache = createCache(options, {
    onEvent(event) {
      try {
        onEvent(event);
      } catch (err) {
        metrics.handlerFailed(kind);
        logger.error({ err, resource: kind, event: event.type }, 'a handler of events failed');
      }
    },
  });
  return { ...cache, ...createInformer(options, { ...dependencies, cache }) };
}
