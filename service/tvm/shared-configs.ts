import type { JobConfig } from './job.ts';
import type { TvmConfig } from './tvm.ts';

/** Most configurations shared with the threads: one for each key block that current calls are pinned to. */
const CONFIGS_MAX = 8;

/** Returns a function that puts a configuration into memory shared with the threads. The last used configurations are cached. */
export function createSharedConfigs(): (config: TvmConfig) => JobConfig {
  const configs = new Map<string, JobConfig>();
  return ({ hash, boc }) => {
    const key = hash.toString('hex');
    const known = configs.get(key);
    configs.delete(key);
    const shared = known ?? { key, boc: new SharedArrayBuffer(boc.length) };
    if (known === undefined) Buffer.from(shared.boc).set(boc);
    configs.set(key, shared);
    if (configs.size > CONFIGS_MAX) configs.delete([...configs.keys()][0]!);
    return shared;
  };
}
