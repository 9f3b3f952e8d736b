import { types } from 'pg';

/** `bytea[]` in Postgres's catalog of types. */
export const BYTE_ARRAY_TYPE = 1001;

/** Quotes enclose a backslash, which is doubled. */
const itemStart = '"\\\\x';

/** Reads `{"\\\\x00ff",NULL}`: hexadecimal needs not be read letter by letter, as arrays of any type are. Other forms are read so. */
export function readByteArray(text: string): unknown {
  const items = text === '{}' ? [] : text.slice(1, -1).split(',');
  if (items.some((item) => item !== 'NULL' && !item.startsWith(itemStart))) return readAnyArray(text);
  return items.map((item) => (item === 'NULL' ? null : Buffer.from(item.slice(itemStart.length, -1), 'hex')));
}

const readAnyArray = types.getTypeParser(BYTE_ARRAY_TYPE as never, 'text') as (text: string) => unknown;
