import { defineOperation, type OperationDefinition } from '#service/contract/operation.ts';
import type { Parameters } from '#service/contract/parameter.ts';
import type { V3Context, V3Operation } from './operation.ts';

/**
 * An operation in the form of v2 that lite servers answer instead of the index (service/v3/README.md#operations-at-the-head). Its answer
 * names the source.
 */
export function defineLiveOperation<const P extends Parameters, R>(
  definition: Omit<OperationDefinition<P, R, V3Context>, 'tag'>,
): V3Operation {
  return defineOperation<P, R, V3Context>({ ...definition, tag: 'legacy' });
}
