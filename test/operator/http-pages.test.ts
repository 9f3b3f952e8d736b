import { describe, expect, it } from 'vitest';

import { createHttpPages, probePage } from '#operator/http-pages.ts';

describe('pages', () => {
  it('answer what they are asked, and nothing else', async () => {
    let reasons = ['caches are being filled'];
    const pages = createHttpPages(
      { host: '127.0.0.1', port: 0 },
      {
        pages: {
          '/readyz': () => probePage(reasons),
          '/mine': ({ authorization = 'nobody' }) => ({
            status: authorization === 'me' ? 200 : 401,
            contentType: 'text/plain',
            body: authorization,
          }),
          '/broken': () => {
            throw new Error('a bug');
          },
        },
      },
    );
    const at = `http://127.0.0.1:${await pages.listen()}`;
    const status = async (path: string, method = 'GET'): Promise<number> =>
      (await fetch(`${at}${path}`, { method })).status;
    expect(await status('/readyz')).toBe(503);
    expect(await (await fetch(`${at}/readyz?verbose`)).json()).toEqual({ ok: false, reasons });
    reasons = [];
    expect(await status('/readyz')).toBe(200);
    expect(await status('/readyz', 'POST')).toBe(404);
    const stranger = await fetch(`${at}/mine`);
    expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const known = await fetch(`${at}/mine`, { headers: { authorization: 'me' } });
    expect([known.status, await known.text()]).toEqual([200, 'me']);
    expect(await status('/constructor')).toBe(404);
    expect(await status('/broken')).toBe(500);
    await pages.close();
  });
});
