import { readDictionary, readerOf, type Reader } from '../cells.ts';
import { expectTag, group, maybeRoot, readFields } from './read-fields.ts';
import type { ConfigValue } from './values.ts';

/** Keys that validators use for a time in place of their own, signed by those (`validator_signed_temp_key`). */
export function temporaryKeys(reader: Reader): ConfigValue {
  const root = maybeRoot(reader);
  const entries = root === undefined ? [] : readDictionary(root, 256);
  const items = entries.map(([key, value]) => {
    expectTag(value, 4, 0x4);
    const hex = key.toString(16).padStart(64, '0');
    return group([['validator', { kind: 'hash', hex }], ...temporaryKey(readerOf(value.ref()))]);
  });
  return { kind: 'list', items };
}

function temporaryKey(reader: Reader) {
  expectTag(reader, 4, 0x3);
  const address = readFields(reader, 'adnl_addr:hash');
  expectTag(reader, 32, 0x8e81278a);
  return [...address, ...readFields(reader, 'temp_public_key:hash seqno:u32 valid_until:time')];
}
