import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { registerReadGauge } from '#service/telemetry/read-gauge.ts';

describe('a gauge that is read', () => {
  it('a gauge that is read has the value of each collection, and no line while the value is unknown', async () => {
    const register = new Registry();
    let value: number | undefined = 3;
    registerReadGauge(register, 'ton_example', 'An example', () => value);
    const lines = async (): Promise<string[]> =>
      (await register.metrics()).split('\n').filter((line) => line.startsWith('ton_example'));
    expect(await lines()).toEqual(['ton_example 3']);
    value = undefined;
    expect(await lines()).toEqual([]);
    value = 0;
    expect(await lines()).toEqual(['ton_example 0']);
  });
});
