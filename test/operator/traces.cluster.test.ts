import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startCollector, type Collector, type Span } from '#test/support/collector.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startOperatorCluster, type OperatorCluster } from '../support/operator-cluster.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';

const patience = { timeout: 240_000, interval: 100 } as const;
const traceId = '0af7651916cd43dd8448eb211c80319c';

/** Writes but for events, which are not counted as such. */
const isWrite = ({ name }: Span): boolean => /^PATCH (?!events)/.test(name);

describe.skipIf(await withoutControlPlane('traces of the operator', 'ours'))('traces of the operator', () => {
  let on: OperatorCluster;
  let collector: Collector;
  let operator: OperatorUnderTest;
  beforeAll(async () => {
    collector = await startCollector();
    on = await startOperatorCluster({ controllers: false });
    await on.operator.close();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    operator = await startOperatorUnderTest(on.plane, [], 'traced', { environment });
  });
  afterAll(async () => {
    await operator?.close();
    await on?.stop();
    await collector?.close();
  });

  const named = (name: string): Span[] => collector.spans.filter((span) => span.name === name);

  it('hold every write, below the look that made it', async () => {
    await on.apply('main');
    await expect.poll(() => named('PATCH tonplane.dev/v1alpha1 TonApi').length, patience).toBeGreaterThan(0);
    await expect.poll(() => named('reconcile TonApi').length, patience).toBeGreaterThan(0);
    const written = Object.values(await operator.writes()).reduce((sum, count) => sum + count, 0);
    await expect.poll(() => collector.spans.filter(isWrite).length, patience).toBe(written);
    const byId = new Map(collector.spans.map((span) => [span.spanId, span]));
    const rootOf = (span: Span): string => {
      const parent = byId.get(span.parentSpanId ?? '');
      return parent === undefined ? span.name : rootOf(parent);
    };
    expect(new Set(collector.spans.filter(isWrite).map(rootOf))).toEqual(new Set(['reconcile TonApi']));
  });

  it('are part of the trace that a pipeline has put on the resource', async () => {
    await on.annotate('main', { 'tonplane.dev/traceparent': `00-${traceId}-b7ad6b7169203331-01` });
    await on.apply('main', { replicas: 7 });
    await expect
      .poll(() => named('PATCH apps/v1 Deployment').some((span) => span.traceId === traceId), patience)
      .toBe(true);
  });
});
