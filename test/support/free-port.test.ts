import { once } from 'node:events';
import { createServer } from 'node:net';

import { expect, it } from 'vitest';

import { freePort } from './free-port.ts';

it('Free ports are different ones below those of outgoing connections, and taken ones are passed over', async () => {
  const first = await freePort();
  const taken = createServer().listen(first + 1, '127.0.0.1');
  await Promise.race([once(taken, 'listening'), once(taken, 'error')]);
  const others = [await freePort(), await freePort()];
  expect(new Set([first, first + 1, ...others]).size).toBe(4);
  for (const port of [first, ...others]) {
    expect(port).toBeGreaterThanOrEqual(12_000);
    expect(port).toBeLessThan(22_000);
  }
  taken.close();
});
