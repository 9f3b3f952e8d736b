import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { makeKey } from '#service/limits/keys.ts';
import { startListener, type Listener } from './listener.ts';
import { request } from './requests.ts';

const { key, id } = makeKey(randomBytes);
const secret = key.slice(`ton_${id}_`.length);

const percent = (text: string): string =>
  Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join('');
const again = (text: string): string => text.replaceAll('%', '%25');

let listener: Listener;

beforeAll(async () => {
  listener = await startListener();
});
afterAll(() => listener.close());

describe('an API key in a URL', () => {
  it.each([
    ['a query', `/api/v2/getMasterchainInfo?api_key=${key}`],
    ['a query of another name', `/api/v2/getMasterchainInfo?x=${key}`],
    ['an escaped query', `/api/v2/getMasterchainInfo?x=${percent(key)}`],
    ['a query that is escaped twice', `/api/v2/getMasterchainInfo?x=${again(percent(key))}`],
    ['a query whose name is escaped twice', `/api/v2/x?${again(percent('api_key'))}=${secret}`],
    ['a query in base64', `/api/v2/x?x=${encodeURIComponent(Buffer.from(key).toString('base64'))}`],
    ['a path', `/api/v2/${key}`],
    ['an escaped path', `/api/v2/${percent(key)}`],
    ['a path that is escaped twice', `/api/v2/${again(percent(key))}`],
    ['a path that is escaped three times', `/api/v3/${again(again(percent(key)))}`],
    ['a path that cannot be decoded', `/api/v2/%zz/${percent(key)}`],
    ['a URL that is cut in the log', `/api/v2/${'x'.repeat(470)}/${key}`],
  ])('does not reach the log: %s', async (_where, path) => {
    listener.logs.length = 0;
    await request(listener.url + path);
    await expect.poll(() => listener.logs.length).toBeGreaterThan(0);
    const shown = JSON.stringify(listener.logs);
    for (const text of [secret, percent(secret), again(percent(secret)), Buffer.from(key).toString('base64')]) {
      expect(shown).not.toContain(text.slice(0, 24));
    }
  });
});
