import { describe, expect, it } from 'vitest';

import { createRegister } from '#service/telemetry/register.ts';

describe('the register', () => {
  it('a register has metrics of the process, the event loop and the build', async () => {
    const text = await createRegister({ version: '1.2.3', commit: 'abc' }).metrics();
    expect(text).toContain(`ton_build_info{version="1.2.3",commit="abc",node="${process.versions.node}"} 1`);
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_gc_duration_seconds',
    ]) {
      expect(text).toContain(`# TYPE ${name}`);
    }
  });

  it('a register defines no other metric of the service', async () => {
    const metrics = await createRegister({ version: '1', commit: 'unknown' }).getMetricsAsJSON();
    expect(metrics.map(({ name }) => name).filter((name) => !/^(process|nodejs)_/.test(name))).toEqual([
      'ton_build_info',
    ]);
  });
});
