import { annotationOf, type TonApi } from '../resource.ts';
import { isPlan } from './plan-text.ts';

/** The annotation by which a TonApi is not written, in the words of a message; undefined without one. */
export function suspensionOf(tonApi: TonApi): 'plan mode' | 'the pause' | undefined {
  if (isPlan(tonApi)) return 'plan mode';
  return annotationOf(tonApi, 'paused') === undefined ? undefined : 'the pause';
}
