import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { makeKey } from '#service/limits/keys.ts';
import { createLogger, setLogLevel } from '#service/telemetry/logger.ts';
import { projectRoot } from '#test/support/service-flags.ts';

/** Creates a logger and captures its output: text, and each line as an object. */
function capture(level: 'debug' | 'info' | 'warn' | 'error' = 'info') {
  let text = '';
  const logger = createLogger({ level, base: { role: 'api' } }, { write: (line: string) => void (text += line) });
  return {
    logger,
    text: () => text,
    lines: () =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe('the logger', () => {
  it('a logger and its child loggers write from the new level on after a change', () => {
    const { logger, lines } = capture('error');
    const child = logger.child({ liteServer: 'a' });
    child.info('too early');
    setLogLevel(logger, 'debug');
    logger.debug('of the logger');
    child.debug('of its child');
    expect(lines().map(({ msg }) => msg)).toEqual(['of the logger', 'of its child']);
  });

  it('a logger writes one JSON object a line with level, time, message and fields', () => {
    const { logger, lines } = capture();
    logger.info({ seqno: 7 }, 'head moved');
    logger.debug('not written');
    expect(lines()).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), role: 'api', seqno: 7, msg: 'head moved' },
    ]);
  });

  it.each<[string, object]>([
    ['a header', { headers: { 'x-api-key': 'hidden-value' } }],
    ['a header in other letters', { req: { headers: { 'X-Api-KEY': 'hidden-value' } } }],
    ['a repeated header', { headers: { authorization: ['Bearer hidden-value', 'b'] } }],
    ['a field far down', { a: { b: { c: { d: { e: { password: 'hidden-value' } } } } } }],
    ['a field with quotes in it', { token: 'x" , hidden-value \\"' }],
    ['a query string', { url: '/api/v2/getMasterchainInfo?address=1&api_key=hidden-value&x=1' }],
    ['a database URL', { uri: 'postgres://user:hidden-value@db:5432/ton' }],
    ['a connection string', { err: "host=db password=hidden-value user=a, or password = 'hidden-value'" }],
    ['a header as text', { note: 'sent Authorization: Bearer hidden-value.of.sixteen+more==' }],
    ['a token of a ServiceAccount', { err: 'bad eyJhbGciOiJSUzI1NiJ9.eyJoaWRkZW4tdmFsdWUi.hidden-value' }],
    ['a private key', { pem: '-----BEGIN EC PRIVATE KEY-----\nhidden-value\n-----END EC PRIVATE KEY-----\n' }],
    ['a private key that was cut off', { pem: '-----BEGIN PRIVATE KEY-----\nhidden-value' }],
  ])('a logger removes a secret from %s', (_where, fields) => {
    const { logger, text, lines } = capture();
    logger.info(fields, 'request');
    expect(text()).not.toContain('hidden-value');
    expect(text()).toContain('[redacted]');
    expect(lines()).toHaveLength(1);
  });

  it('a logger removes an API key from any text, also of messages and errors, and leaves its id', () => {
    const { logger, text, lines } = capture();
    const { key, id } = makeKey(randomBytes);
    const secret = key.slice(`ton_${id}_`.length);
    logger.error({ err: new Error(`wrong key ${key}`), note: [`x${key}`, key] }, `key ${key} is wrong`);
    logger.info(key);
    expect(text()).not.toContain(secret);
    expect(lines()[0]).toMatchObject({ msg: `key ton_${id}_[redacted] is wrong` });
  });

  it.each([
    ['key', 'default/mainnet'],
    ['key', '/cluster-wide'],
    ['key', 'c2'.repeat(32)],
    ['secret', 'default/redis'],
    ['secretName', 'redis'],
    ['note', 'the basic authorization of a bearer bond'],
  ])('a logger shows a resource in the field %s: %s', (field, value) => {
    const { logger, lines } = capture();
    logger.warn({ controller: 'tonapi', [field]: value }, 'failed');
    expect(lines()[0]).toMatchObject({ [field]: value, msg: 'failed' });
  });

  it('a logger removes an API key from a field that names a resource', () => {
    const { logger, text } = capture();
    const { key } = makeKey(randomBytes);
    logger.info({ key, secret: key }, 'failed');
    expect(text()).not.toContain(key);
  });

  it('a logger leaves text that is no secret', () => {
    const { logger, lines } = capture();
    logger.info({ publicKey: 'abc', keys: 3, url: 'http://host:1/a@b', keyId: 'k', tokens: 5 }, 'plain');
    expect(lines()[0]).toMatchObject({ publicKey: 'abc', keys: 3, url: 'http://host:1/a@b', keyId: 'k', tokens: 5 });
  });

  it.each([
    ['that exits at once', 'process.exit()'],
    ['that has nothing left to do', ''],
    ['that runs on for some time', 'setTimeout(() => process.exit(), 500)'],
  ])('all lines of a process %s reach its standard output in order', async (_what, end) => {
    const program = `import { createLogger } from '#service/telemetry/logger.ts';
      const logger = createLogger({ level: 'info' });
      for (let line = 0; line < 100; line++) logger.info(String(line));
      ${end}`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: projectRoot,
    });
    const messages = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).toEqual(Array.from({ length: 100 }, (_, line) => String(line)));
  });
});
