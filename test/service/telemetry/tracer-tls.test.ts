import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createTracing } from '#service/telemetry/tracer.ts';
import { createAuthority } from '#test/support/certificate.ts';

const authority = createAuthority('Private authority');
const stranger = createAuthority('Private authority');
const { certificate: cert, key } = authority.issue({ commonName: 'collector', hosts: ['127.0.0.1'] });
let exports = 0;
const collector = createServer({ cert, key }, (request, response) => {
  request.resume().on('end', () => {
    exports++;
    response.setHeader('content-type', 'application/json').end('{}');
  });
});

beforeAll(() => once(collector.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  collector.closeAllConnections();
  collector.close();
});

/** Sends one span to the collector, and returns the log. */
async function trace(ca: string | undefined, next?: string): Promise<string> {
  let log = '';
  const logger = pino({}, { write: (line: string) => void (log += line) });
  const endpoint = `https://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const tracing = await createTracing({ tracing: { endpoint, sampleRatio: 1, ca }, resource: {} }, { logger });
  if (next !== undefined) tracing.setAuthorities(next);
  tracing.tracer.startSpan('request').end();
  await tracing.close();
  return log;
}

it('a collector with a certificate of a private authority gets traces if that authority is given', async () => {
  exports = 0;
  expect(await trace(authority.certificate)).toBe('');
  expect(exports).toBe(1);
});

it('a collector gets traces with an authority that is added while the process runs', async () => {
  exports = 0;
  expect(await trace(stranger.certificate, authority.certificate)).toBe('');
  expect(exports).toBe(1);
});

it.each([undefined, stranger.certificate])(
  'a collector of another authority gets nothing, and the log names the field',
  async (ca) => {
    exports = 0;
    expect(await trace(ca)).toContain(
      'spec.observability.tracing.caBundle (--tracing-ca-file): expected the authority',
    );
    expect(exports).toBe(0);
  },
);
