import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { LimitsError } from '#service/limits/errors.ts';
import { openKeyTable } from '#service/limits/key-table.ts';
import { createKeyringReader } from '#service/limits/keyring-reader.ts';
import { createKeyring, KEYRING_POLL_MS, parseKeyring } from '#service/limits/keyring.ts';
import { makeKey, type NewKey } from '#service/limits/keys.ts';
import { mountFolder } from '#test/support/mounted-folder.ts';
import { turnsDuring } from '#test/support/turns.ts';

const noonMs = Date.parse('2026-11-21T12:00:00Z');

function entryOf({ id, sha256 }: NewKey, more: object = {}): object {
  return { id, sha256: sha256.toString('hex'), plan: 'pro', ...more };
}

const shard = (...keys: object[]): string => JSON.stringify({ keys });

const idAt = (index: number): string => index.toString(36).padStart(12, '0');

/** Returns a keyring of thousands of rows after the given rows, too large to be read without a thread. */
const large = (...first: object[]): string => {
  const others = Array.from({ length: 5000 }, (_, index) => entryOf({ ...makeKey(randomBytes), id: idAt(index) }));
  return JSON.stringify({ keys: [...first, ...others] });
};

function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof LimitsError) return error.data.problems;
    throw error;
  }
  throw new Error('expected a LimitsError');
}

describe('a keyring', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyring-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const fileOf = (content: unknown): string => {
    const file = join(folder, 'keyring.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };

  it('a keyring finds the keys of its file and the keys given in code', () => {
    const [filed, given] = [makeKey(randomBytes), makeKey(randomBytes)];
    const file = fileOf({ keys: [entryOf(filed, { owner: 'acme', networks: ['mainnet'] })] });
    const keyring = createKeyring({ file, rows: [{ id: given.id, sha256: given.sha256, plan: 'dev' }] });
    expect(keyring.size).toBe(2);
    expect(keyring.find(filed.key, noonMs)).toMatchObject({
      id: filed.id,
      terms: { plan: 'pro', owner: 'acme', networks: ['mainnet'] },
    });
    expect(keyring.find(given.key, noonMs)).toMatchObject({ terms: { plan: 'dev' } });
  });

  it('a key with a known id and another secret, or with an unknown id, is not found', () => {
    const { key, id, sha256 } = makeKey(randomBytes);
    const keyring = createKeyring({ rows: [{ id, sha256, plan: 'pro' }] });
    expect(keyring.find(`ton_${id}_${'x'.repeat(43)}`, noonMs)).toBeUndefined();
    expect(keyring.find(makeKey(randomBytes).key, noonMs)).toBeUndefined();
    expect(keyring.find(key, noonMs)?.id).toBe(id);
  });

  it('a keyring finds a key until the moment it expires', () => {
    const made = makeKey(randomBytes);
    const keyring = createKeyring({ file: fileOf({ keys: [entryOf(made, { notAfter: '2026-11-21T12:00:00Z' })] }) });
    expect(keyring.find(made.key, noonMs - 1)).toBeDefined();
    expect(keyring.find(made.key, noonMs)).toBeUndefined();
  });

  it('a bad file is refused with every problem and its position', () => {
    const good = makeKey(randomBytes);
    const text = JSON.stringify({
      keys: [
        entryOf(good),
        { ...entryOf(good), id: 'short', sha256: 'zz', plan: '' },
        { ...entryOf(good), owner: 7, networks: 'mainnet', notAfter: 'soon', extra: 1 },
        null,
      ],
    });
    expect(problemsOf(() => parseKeyring(text))).toEqual([
      'keys[1].id: expected 12 base-62 digits',
      'keys[1].sha256: expected 64 hex digits',
      'keys[1].plan: expected the name of a plan',
      'keys[2].owner: expected a name',
      'keys[2].networks: expected an array of network names',
      'keys[2].notAfter: expected an RFC 3339 time',
      'keys[2].*: expected only the fields id, sha256, plan, owner, networks, notAfter, allowedMethods, allowedSources, overrides',
      'keys[3]: expected an object',
    ]);
  });

  it('a file that is wrong throughout is refused with its first problems only', () => {
    const text = JSON.stringify({ keys: Array.from({ length: 1000 }, () => 1) });
    expect(problemsOf(() => parseKeyring(text))).toHaveLength(20);
  });

  it('a problem never repeats a key that was pasted into the file by mistake', () => {
    const { key, id } = makeKey(randomBytes);
    const texts = [
      key,
      `{"keys": [${key}]}`,
      JSON.stringify({ keys: [{ id: key, sha256: key, plan: 'pro', [key]: 1 }] }),
    ];
    const secret = key.slice(`ton_${id}_`.length);
    for (const text of texts) expect(problemsOf(() => parseKeyring(text)).join('\n')).not.toContain(secret);
  });

  it.each([
    ['that is missing', () => join(folder, 'none.json'), 'keyring file cannot be read: ENOENT'],
    ['that is no JSON', () => fileOf('keys'), 'keyring file: expected JSON'],
    ['without keys', () => fileOf({ rows: [] }), 'keys: expected an array'],
  ])('a keyring is refused for a file %s', (_why, file, problem) => {
    expect(problemsOf(() => createKeyring({ file: file() }))).toEqual([problem]);
  });

  it('a file with one id twice is refused', () => {
    const made = makeKey(randomBytes);
    const file = fileOf({ keys: [entryOf(made), entryOf(made)] });
    expect(problemsOf(() => createKeyring({ file }))).toEqual([`key id ${made.id} is there twice`]);
  });

  it('keys given in code are refused with an id twice, among them or also in the file', () => {
    const made = makeKey(randomBytes);
    const row = { id: made.id, sha256: made.sha256, plan: 'dev' };
    const twice = [`key id ${made.id} is there twice`];
    expect(problemsOf(() => createKeyring({ rows: [row, row] }))).toEqual(twice);
    expect(problemsOf(() => createKeyring({ file: fileOf({ keys: [entryOf(made)] }), rows: [row] }))).toEqual(twice);
  });

  it('a keyring has the ids of its file and of the keys given in code', () => {
    const [filed, given] = [makeKey(randomBytes), makeKey(randomBytes)];
    const rows = [{ id: given.id, sha256: given.sha256, plan: 'dev' }];
    const keyring = createKeyring({ file: fileOf({ keys: [entryOf(filed)] }), rows });
    expect([filed.id, given.id, makeKey(randomBytes).id].map((id) => keyring.has(id))).toEqual([true, true, false]);
  });

  it('a changed file is in force at the next look: keys come, go and change their terms', async () => {
    const [first, second] = [makeKey(randomBytes), makeKey(randomBytes)];
    const file = fileOf({ keys: [entryOf(first)] });
    const keyring = createKeyring({ file, pollMs: KEYRING_POLL_MS });
    fileOf({ keys: [entryOf(second, { plan: 'free' })] });
    await expect.poll(() => keyring.find(second.key, noonMs)?.terms.plan).toBe('free');
    expect(keyring.find(first.key, noonMs)).toBeUndefined();
    keyring.close();
  });

  it.each([
    ['is no JSON', 'keys', 'refused'],
    [
      'names a plan that does not exist',
      { keys: [{ id: 'a'.repeat(12), sha256: '0'.repeat(64), plan: 'gold' }] },
      'refused',
    ],
    ['is good', { keys: [] }, 'loaded'],
  ])('a bad new file leaves the keys before it in force: one that %s', async (_why, content, result) => {
    const made = makeKey(randomBytes);
    const register = new Registry();
    const keyring = createKeyring(
      { file: fileOf({ keys: [entryOf(made)] }), plans: new Set(['pro']) },
      { register, logger: pino({ level: 'silent' }) },
    );
    fileOf(content);
    await keyring.reload();
    expect(keyring.find(made.key, noonMs) === undefined).toBe(result === 'loaded');
    expect(await register.metrics()).toContain(`ton_limits_keyring_reloads_total{result="${result}"} 1`);
  });

  it('a removed file leaves its keys in force, and a new file is followed', async () => {
    const [first, second] = [makeKey(randomBytes), makeKey(randomBytes)];
    const file = fileOf({ keys: [entryOf(first)] });
    const keyring = createKeyring({ file });
    rmSync(file);
    await keyring.reload();
    expect(keyring.find(first.key, noonMs)).toBeDefined();
    fileOf({ keys: [entryOf(second)] });
    await keyring.reload();
    expect(keyring.find(second.key, noonMs)).toBeDefined();
  });

  it('a file in any pieces, indented or not, is read the same', () => {
    const made = Array.from({ length: 20 }, () => makeKey(randomBytes));
    const document = { keys: made.map((key, index) => entryOf(key, { owner: `"{[\\ ${index} é` })) };
    for (const text of [JSON.stringify(document), JSON.stringify(document, undefined, 2)]) {
      const bytes = Buffer.from(text);
      for (const length of [1, 7, 96, 1000]) {
        const reader = createKeyringReader();
        for (let at = 0; at < bytes.length; at += length) reader.feed(bytes.subarray(at, at + length));
        reader.endFile();
        const table = openKeyTable(reader.end().keys);
        const owners = made.map(({ id }) => table.termsAt(table.indexOf(id)).owner);
        expect(owners).toEqual(made.map((_key, index) => `"{[\\ ${index} é`));
      }
    }
  });

  it('a folder of shards is one keyring: plain or gzip, next to each other or in folders', () => {
    const made = Array.from({ length: 4 }, () => makeKey(randomBytes));
    const texts = made.map((key) => JSON.stringify({ keys: [entryOf(key)] }));
    mkdirSync(join(folder, 'shard-3'));
    writeFileSync(join(folder, 'a.json'), texts[0] ?? '');
    writeFileSync(join(folder, 'b'), gzipSync(texts[1] ?? ''));
    writeFileSync(join(folder, 'shard-3/keyring.json.gz'), gzipSync(texts[2] ?? ''));
    writeFileSync(join(folder, '.hidden'), texts[3] ?? '');
    const keyring = createKeyring({ file: folder });
    expect(made.map(({ key }) => keyring.find(key, noonMs)?.id)).toEqual([
      ...made.slice(0, 3).map(({ id }) => id),
      undefined,
    ]);
  });

  it('shards of a mounted folder are followed as files come and go, while a key moves from one shard to another', async () => {
    const [moving, other] = [makeKey(randomBytes), makeKey(randomBytes)];
    const mounted = mountFolder({ '0.json': shard(entryOf(moving)), '1.json': shard() });
    const keyring = createKeyring({ file: mounted.path });
    mounted.put({
      '0.json': shard(entryOf(moving)),
      '1.json': shard(entryOf(moving, { plan: 'free' }), entryOf(other)),
    });
    await keyring.reload();
    expect([keyring.size, keyring.find(moving.key, noonMs)?.terms.plan]).toEqual([2, 'pro']);
    mounted.put({ '1.json': shard(entryOf(moving, { plan: 'free' })) });
    await keyring.reload();
    expect([keyring.size, keyring.find(moving.key, noonMs)?.terms.plan]).toEqual([1, 'free']);
    mounted.remove();
  });

  it.each([
    ['a file', (text: string) => ({ 'keyring.json': text })],
    ['shards, some of them packed', (text: string) => ({ '0.json': gzipSync(text), '1.json': shard() })],
  ])('a large keyring of %s is followed by a thread, while the event loop turns', async (_what, filesFor) => {
    const [kept, added] = [makeKey(randomBytes), makeKey(randomBytes)];
    const mounted = mountFolder(filesFor(large(entryOf(kept))));
    const keyring = createKeyring({ file: mounted.path });
    mounted.put(filesFor(large(entryOf(kept, { owner: 'acme', allowedSources: ['10.0.0.0/8'] }), entryOf(added))));
    expect(await turnsDuring(() => keyring.reload())).toBeGreaterThan(3);
    expect([keyring.size, keyring.version]).toEqual([5002, 1]);
    expect(keyring.find(added.key, noonMs)?.terms).toEqual({ plan: 'pro' });
    expect(keyring.find(kept.key, noonMs)?.terms.owner).toBe('acme');
    expect(keyring.find(kept.key, noonMs)?.terms.allowedSources?.check('10.1.2.3')).toBe(true);
    mounted.remove();
  });

  it('a large bad file is refused by the thread with its problems, and the keys before it stay', async () => {
    const made = makeKey(randomBytes);
    const logged: object[] = [];
    const logger = pino({ base: null }, { write: (line) => void logged.push(JSON.parse(line) as object) });
    const keyring = createKeyring({ file: fileOf(large(entryOf(made))) }, { logger, register: new Registry() });
    fileOf(large({ ...entryOf(made), id: 'short' }));
    await keyring.reload();
    expect(logged).toMatchObject([{ problems: ['keys[0].id: expected 12 base-62 digits'] }]);
    expect(keyring.find(made.key, noonMs)).toBeDefined();
  });

  it('closing a keyring while its thread reads ends the thread and leaves the keys as they were', async () => {
    const made = makeKey(randomBytes);
    const keyring = createKeyring({ file: fileOf(large(entryOf(made))) });
    fileOf(large());
    const reading = keyring.reload();
    keyring.close();
    await reading;
    expect([keyring.size, keyring.version]).toEqual([5001, 0]);
  });

  it('two shards with one id for two keys are refused', () => {
    const [made, other] = [makeKey(randomBytes), makeKey(randomBytes)];
    writeFileSync(join(folder, '0.json'), JSON.stringify({ keys: [entryOf(made)] }));
    writeFileSync(join(folder, '1.json'), JSON.stringify({ keys: [entryOf({ ...other, id: made.id })] }));
    expect(problemsOf(() => createKeyring({ file: folder }))).toEqual([`key id ${made.id} is there twice`]);
  });

  it('a refused file comes into force once the plans that it names exist', async () => {
    const made = makeKey(randomBytes);
    const keyring = createKeyring({ file: fileOf({ keys: [] }), plans: new Set(['free']) });
    fileOf({ keys: [entryOf(made)] });
    await keyring.reload();
    expect(keyring.find(made.key, noonMs)).toBeUndefined();
    keyring.setPlans(new Set(['free', 'pro']));
    await keyring.reload();
    expect(keyring.find(made.key, noonMs)?.id).toBe(made.id);
  });

  it('a hundred thousand keys, most with one text of terms and some with their own, are all found', () => {
    const count = 100_000;
    const rows = Array.from({ length: count }, (_, index) => {
      const own = index % 7 === 0 ? `,"owner":"o{${index}}"` : '';
      return `{"id":"${idAt(index)}","sha256":"${index.toString(16).padStart(64, '0')}","plan":"pro"${own}}`;
    });
    const table = parseKeyring(`{"keys":[\n${rows.join(',\n')}\n]}`);
    expect(table.size).toBe(count);
    const wrong = rows.findIndex((_row, index) => {
      const at = table.indexOf(idAt(index));
      const { owner } = table.termsAt(at);
      const hash = index.toString(16).padStart(64, '0');
      return table.sha256At(at).toString('hex') !== hash || owner !== (index % 7 === 0 ? `o{${index}}` : undefined);
    });
    expect(wrong).toBe(-1);
    expect(table.indexOf('zzzzzzzzzzzz')).toBe(-1);
  });

  it.each(['{"keys":[{"id":', '{"keys":[]', '{"keys":[{]}', '[]', '{"other":[{}],"keys":[]}'])(
    'the text %s is refused',
    (text) => {
      expect(() => parseKeyring(text)).toThrow(LimitsError);
    },
  );

  it.each([
    [{ allowedMethods: 'x' }, 'allowedMethods: expected an array of at most 128 operations'],
    [{ allowedSources: ['10.0.0.0/33'] }, 'allowedSources: expected an array of at most 32 CIDR ranges'],
    [{ allowedSources: ['somewhere'] }, 'allowedSources: expected an array of at most 32 CIDR ranges'],
    [{ overrides: { requestsPerSecond: 0.5 } }, 'overrides: expected whole requestsPerSecond and burst'],
    [{ overrides: { rate: 1 } }, 'overrides: expected whole requestsPerSecond and burst'],
  ])('terms like %j are refused', (terms, problem) => {
    const text = JSON.stringify({ keys: [entryOf(makeKey(randomBytes), terms)] });
    expect(problemsOf(() => parseKeyring(text))).toEqual([`keys[0].${problem}`]);
  });
});
