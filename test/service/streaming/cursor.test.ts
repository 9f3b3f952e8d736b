import { describe, expect, it } from 'vitest';

import { CONNECTIONS_END, createCursors } from '#service/streaming/request/cursor.ts';

const cursors = createCursors('testnet');
const cursor = { position: { mcSeqno: 4_000_000_000, index: 17 }, connection: CONNECTIONS_END - 1 };

describe('a cursor', () => {
  it('is read as it was written', () => {
    expect(cursors.read(cursors.write(cursor))).toEqual(cursor);
    const first = { position: null, connection: 0 };
    expect(cursors.read(cursors.write(first))).toEqual(first);
  });

  it('is base64url of at most 64 characters', () => {
    expect(cursors.write(cursor)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it.each([
    ['empty', ''],
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
