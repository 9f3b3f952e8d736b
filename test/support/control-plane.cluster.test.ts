import { request } from 'node:https';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { withoutControlPlane } from './control-plane-source.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

describe.skipIf(await withoutControlPlane('the test control plane', 'ours', 'controllers'))('the control plane', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
  }, 200_000);
  afterAll(() => plane.stop());

  it('serves the release that its clients are told of', async () => {
    const version = await get('/version');
    expect(version.body).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.3' });
  });

  it('runs the controllers: a new namespace gets its service account', async () => {
    await send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } });
    await expect
      .poll(() => statusOf('/api/v1/namespaces/fresh/serviceaccounts/default'), { timeout: 20_000 })
      .toBe(200);
  });

  it('keeps what is stored when the API server is killed and started again', async () => {
    await plane.restartApiServer();
    expect(await statusOf('/api/v1/namespaces/default')).toBe(200);
  });

  it('is silent while frozen, and goes on after that', async () => {
    const thaw = plane.freezeApiServer();
    const answer = statusOf('/api/v1/namespaces/default');
    const first = await Promise.race([answer, new Promise((done) => setTimeout(done, 300, 'silence'))]);
    thaw();
    expect(first).toBe('silence');
    expect(await answer).toBe(200);
  });

  const get = (path: string) => send('GET', path);
  const statusOf = async (path: string) => (await get(path)).status;

  function send(method: string, path: string, body?: object): Promise<{ status: number | undefined; body: unknown }> {
    return new Promise((done, fail) => {
      const sent = request(
        `${plane.server}${path}`,
        {
          method,
          ca: plane.authority,
          agent: false,
          headers: { authorization: `Bearer ${plane.adminToken}`, 'content-type': 'application/json' },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () => done({ status: response.statusCode, body: JSON.parse(text) }));
        },
      );
      sent.on('error', fail);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
});
