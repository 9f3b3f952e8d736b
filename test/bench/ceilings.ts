import { indexNodeOptions } from '#operator/desired/pod.ts';
import type { Bench } from './bench.ts';
import { withIndex } from './v3.ts';
import { measureCeilings } from './v3/ceilings.ts';

export const bench: Bench = {
  about: 'most requests a second of a pod of v3 on one core with a p99 of 100 ms, for each mix of requests',
  nodeOptions: indexNodeOptions.split(' '),
  run: (options) => withIndex(options, measureCeilings),
};
