import { afterEach, describe, expect, it } from 'vitest';

import type { CallerConditions } from '#service/http/conditions.ts';
import { startListener, type Listener } from './listener.ts';
import { post, request } from './requests.ts';

const failing: CallerConditions = { delayMs: 0, failurePercent: 100, requestsPerSecond: 0 };
const text = 'a failure that dev_conditions asks for';

let listener: Listener;
afterEach(() => listener.close());

const start = async (): Promise<string> => {
  listener = await startListener({ dependencies: { conditions: () => failing } });
  return listener.url;
};

describe('a failure that dev_conditions asks for', () => {
  it('has the envelope of v2, with its extra, and in JSON-RPC its mark', async () => {
    const url = await start();
    const extra = expect.stringMatching(/^\d+:_:[\d.e-]+$/) as string;
    const body = { ok: false, error: text, code: 503, '@extra': extra };
    expect((await request(`${url}/api/v2/getMasterchainInfo`)).body).toEqual(body);
    const rpc = await post(`${url}/api/v2/jsonRPC`, '{"method": "getMasterchainInfo"}');
    expect([rpc.status, rpc.body]).toEqual([503, { ...body, jsonrpc: '2.0' }]);
  });

  it.each(['/api/v3/blocks', '/api/V3/Blocks?limit=1', '/api/emulate/v1/emulateTrace'])(
    'has the envelope of v3 at %s',
    async (path) => {
      const { status, body, headers } = await request(`${await start()}${path}`);
      expect([status, body]).toEqual([503, { ok: false, code: 503, error: text }]);
      expect(headers.get('server-timing')).toMatch(/^app;dur=/);
    },
  );

  it.each(['/api/v2/openapi.json', '/api/v2/docs/', '/api/streaming/v2/sse', '/api/emulate', '/nowhere'])(
    'does not concern %s',
    async (path) => {
      expect((await request(`${await start()}${path}`)).text).not.toContain(text);
    },
  );

  it('is in the log as the answer to a request', async () => {
    await request(`${await start()}/api/v3/blocks`);
    expect(listener.logs).toContainEqual(
      expect.objectContaining({ msg: 'request', operation: 'condition', status: 503, code: 'condition_failed' }),
    );
  });
});
