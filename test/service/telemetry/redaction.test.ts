import { randomBytes } from 'node:crypto';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { makeKey } from '#service/limits/keys.ts';
import { createLogger } from '#service/telemetry/logger.ts';
import { redactText } from '#service/telemetry/secrets.ts';

const { key, id } = makeKey(randomBytes);
const secret = key.slice(`ton_${id}_`.length);

/** Returns one line of the log, as text and as an object. */
function logged(fields: object, message = 'request'): { text: string; line: Record<string, unknown> } {
  let text = '';
  createLogger({ level: 'info' }, { write: (line: string) => void (text += line) }).info(fields, message);
  return { text, line: JSON.parse(text) as Record<string, unknown> };
}

const each = (text: string, escape: (code: string, character: string) => string): string =>
  Array.from(text, (character) => escape(character.charCodeAt(0).toString(16).padStart(2, '0'), character)).join('');

const percent = (text: string): string => each(text, (code) => `%${code}`);
const half = (text: string): string =>
  each(text, (code, character) => (/[aeiou_0-4]/.test(character) ? `%${code}` : character));
const unicode = (text: string): string => each(text, (code) => String.raw`\u00${code}`);
const byte = (text: string): string => each(text, (code) => String.raw`\x${code}`);
const html = (text: string): string => each(text, (code) => `&#x${code};`);
const decimal = (text: string): string => each(text, (code) => `&#${Number.parseInt(code, 16)};`);
const component = (text: string): string => encodeURIComponent(text).replaceAll('%', '%25');
const json = (text: string): string => JSON.stringify(text);

const escapes: readonly (readonly [string, (text: string) => string])[] = [
  ['percent-encoding', percent],
  ['percent-encoding of some characters', half],
  ['upper-case percent-encoding', (text) => percent(text).toUpperCase()],
  ['double percent-encoding', (text) => component(percent(text))],
  ['percent-encoding of percent-encoding', (text) => percent(percent(text))],
  ['triple percent-encoding', (text) => percent(percent(percent(text)))],
  [String.raw`\u escapes`, unicode],
  [String.raw`\u escapes in percent-encoding`, (text) => percent(unicode(text))],
  [String.raw`\x escapes`, byte],
  ['HTML in hexadecimal', html],
  ['HTML in decimal', decimal],
  ['JSON in JSON in JSON', (text) => json(json(json(text)))],
  ['a query in JSON', (text) => json(`?api_key=${percent(text)}`)],
  ['base64', (text) => Buffer.from(text).toString('base64')],
  ['base64 within other bytes', (text) => Buffer.from(`ab${text}cd`).toString('base64')],
  ['base64url of a header', (text) => Buffer.from(`user:${text}`).toString('base64url')],
  ['percent-encoded base64', (text) => encodeURIComponent(Buffer.from(text).toString('base64'))],
];

describe('an API key in a log', () => {
  it.each(escapes)('an API key is removed even if it is escaped: %s', (_name, escape) => {
    const escaped = escape(key);
    const { text, line } = logged(
      { url: `/api/v2/x?a=${escaped}&b=1`, list: [escaped], err: new Error(escaped) },
      `got ${escaped} here`,
    );
    const bare = escape(secret);
    expect(text).not.toContain(bare);
    expect(text).not.toContain(bare.slice(0, -8));
    expect(line['msg']).toMatch(/^got .*\[redacted\].* here$/);
  });

  it('an API key is removed in any mix of escapes, and the text around it stays', () => {
    const ways = escapes.slice(0, 11).map(([, escape]) => escape);
    const way = fc.constantFrom(...ways);
    fc.assert(
      fc.property(fc.array(way, { minLength: 1, maxLength: 2 }), fc.nat(50), (chosen, at) => {
        const escaped = chosen.reduce((text, escape) => escape(text), key);
        if (escaped.length > 4000) return;
        const shown = redactText(`${'x'.repeat(at)} before ${escaped} behind`);
        expect(shown.startsWith(`${'x'.repeat(at)} before `)).toBe(true);
        expect(shown.endsWith('[redacted] behind')).toBe(true);
        expect(shown.length).toBeLessThan(at + 8 + escaped.length * 0.5 + 40);
      }),
      { seed: 20_261_127, numRuns: 200 },
    );
  });

  it('an API key is removed even if only a part of it is shown', () => {
    expect(redactText(`Unexpected token in ton_${id}_${secret.slice(0, 9)}`)).toBe(
      `Unexpected token in ton_${id}_[redacted]`,
    );
  });

  it('an API key is removed from a JSON-RPC call within a text, whatever its form', () => {
    const call = JSON.stringify({
      jsonrpc: '2.0',
      params: { api_key: 'hidden-value', nested: JSON.stringify({ token: 'hidden-value' }) },
    });
    const { text, line } = logged({ body: call, again: JSON.stringify({ body: call }) });
    expect(text).not.toContain('hidden-value');
    expect(String(line['body'])).toContain('"jsonrpc":"2.0"');
  });

  it('an API key is removed from a header line within a text', () => {
    expect(logged({}, 'got X-API-Key: hidden-value\r\nHost: x').line['msg']).toBe(
      'got X-API-Key: [redacted]\r\nHost: x',
    );
    expect(logged({}, 'got x-api-key%3A%20hidden-value').text).not.toContain('hidden-value');
  });

  it('a text with more levels of escapes than the bound is removed whole', () => {
    let escaped = key;
    for (let level = 0; level < 40; level++) escaped = escaped.replaceAll('%', '%25').replace(/^t/, '%74');
    expect(redactText(`x ${escaped}`)).toBe('[redacted]');
  });

  it('escapes of text that is no secret stay as they are', () => {
    for (const text of [
      '/api/v2/x?address=0%3Aab%2Bc&b=%25',
      String.raw`a \u0041 "b" \\ c`,
      '100 % of &amp; &#65;',
      'C:\\x41\\dir',
    ]) {
      const { line } = logged({ note: text });
      expect(line['note']).toBe(text);
    }
  });
});
