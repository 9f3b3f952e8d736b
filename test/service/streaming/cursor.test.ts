import { describe, expect, it } from 'vitest';

import { CONNECTIONS_END, createCursors } from '#service/streaming/request/cursor.ts';

const cursors = createCursors('testnet');
const cursor = { position: { mcSeqno: 4_000_000_000, index: 17 }, connection: CONNECTIONS_END - 1 };

const levels = { epoch: 2 ** 32 - 1, mark: 2 ** 48 - 1 };
const whole = { ...cursor, levels };

describe('a cursor', () => {
  it('is read as it was written', () => {
    const first = { position: null, connection: 0 };
    for (const one of [cursor, whole, first, { ...first, levels: { epoch: 1, mark: 0 } }])
      expect(cursors.read(cursors.write(one))).toEqual(one);
  });

  it('is base64url of at most 64 characters', () => {
    for (const one of [cursor, whole]) expect(cursors.write(one)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it('of version 1 is still read', () => {
    const text = 'AZr7zp_uaygAAAAAEf_______w';
    expect(cursors.read(text)).toEqual(cursor);
    expect(cursors.write(cursor)).toBe(text);
  });

  it.each([
    ['empty', ''],
    ['without the end of its levels', cursors.write(whole).slice(0, -1)],
    ['with the levels of another version', `AQ${cursors.write(whole).slice(2)}`],
    ['with a version for levels alone', `Ag${cursors.write(cursor).slice(2)}`],
    ['truncated', cursors.write(cursor).slice(0, -1)],
    ['longer', `${cursors.write(cursor)}A`],
    ['of another network', createCursors('mainnet').write(cursor)],
    ['of another version', `B${cursors.write(cursor).slice(1)}`],
    ['with other bits after its end', `${cursors.write(cursor).slice(0, -1)}_`],
    ['of another alphabet', cursors.write(cursor).replace(/.$/, '+')],
    ['a number', '1'],
  ])('is refused when it is %s', (_case, text) => {
    expect(() => cursors.read(text)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
  });
});
