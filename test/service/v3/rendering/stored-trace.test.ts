import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import type { Shape } from '#service/contract/shape.ts';
import { TRACE_FORMAT_VERSION } from '#service/v3/rendering/stored-trace.ts';
import { traceNode, transactionsByHash } from '#service/v3/views/trace-views.ts';

function hashOf(shapes: readonly Shape<unknown>[]): string {
  const described = shapes.map(({ schema, definitions }) => [schema, [...definitions]]);
  return createHash('sha256').update(JSON.stringify(described)).digest('hex').slice(0, 16);
}

/**
 * Hash of the shapes of a stored trace in each version of its form. For a change of the shapes, increase `TRACE_FORMAT_VERSION`, empty
 * `written_traces` by a step of the schema, and put the new hash here. Otherwise callers get fields of the old form.
 */
const shapesByVersion: Readonly<Record<number, string>> = { 4: '97972a816f3a2cde' };

it('stored traces have another version when the shape of a trace, a transaction or a message changes', () => {
  expect(hashOf([traceNode, transactionsByHash])).toBe(shapesByVersion[TRACE_FORMAT_VERSION]);
});
