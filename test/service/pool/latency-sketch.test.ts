import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { createLatencySketch } from '#service/pool/latency-sketch.ts';

test('no quantile is known before the first latency', () => {
  expect(createLatencySketch().quantile(0.7)).toBeUndefined();
});

test('a quantile is never below the true one and at most a fifth above it', () => {
  const latency = fc.double({ min: 0.25, max: 10_000, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(latency, { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.7, 0.9, 1),
      (latencies, q) => {
        const sketch = createLatencySketch();
        for (const ms of latencies) sketch.observe(ms);
        const exact = latencies.toSorted((a, b) => a - b)[Math.ceil(q * latencies.length) - 1]!;
        const told = sketch.quantile(q)!;
        expect(told).toBeGreaterThanOrEqual(exact * 0.999);
        expect(told).toBeLessThanOrEqual(exact * 1.201);
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

test('a change shows after a few hundred latencies, however many came before', () => {
  const sketch = createLatencySketch();
  for (let i = 0; i < 100_000; i += 1) sketch.observe(5);
  for (let i = 0; i < 400; i += 1) sketch.observe(200);
  expect(sketch.quantile(0.5)).toBeGreaterThan(190);
  expect(sketch.weight()).toBeLessThanOrEqual(256);
});

test('a latency out of range counts at the edge', () => {
  const sketch = createLatencySketch();
  sketch.observe(0);
  expect(sketch.quantile(1)).toBe(0.25);
  sketch.observe(1e9);
  expect(sketch.quantile(1)).toBeGreaterThan(10_000);
});
