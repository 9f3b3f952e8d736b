type Bad = readonly [value: unknown, message: string];

/** Values that a parameter of this name refuses, with the message (service/v2/README.md#validation-messages). Small integers have 32 bits, large ones 64. */
const mistakes: Readonly<Record<string, readonly Bad[]>> = {
  address: [
    ['', 'empty address'],
    ['x', 'failed to parse address'],
    ['ab'.repeat(32), 'failed to parse address'],
  ],
  source: [
    ['', 'empty source address'],
    ['x', 'failed to parse source address'],
  ],
  destination: [
    ['', 'empty destination address'],
    ['x', 'failed to parse destination address'],
  ],
  seqno: [
    ...unreadable('seqno', '2147483648'),
    ...['0', '-1'].map((value) => [value, 'seqno should be positive'] as const),
  ],
  from_seqno: [...unreadable('from_seqno', '2147483648'), ['-1', 'from_seqno should be non-negative']],
  workchain: unreadable('workchain', '2147483648'),
  shard: [...unreadable('shard', '9223372036854775808'), ['0', 'failed to parse shard']],
  root_hash: [['x', 'failed to parse root_hash']],
  file_hash: [['x', 'failed to parse file_hash']],
  lt: [...unreadable('lt', '9223372036854775808'), ['-1', 'lt should be non-negative']],
  to_lt: unreadable('to_lt', '9223372036854775808'),
  created_lt: [...unreadable('created_lt', '9223372036854775808'), ['-1', 'created_lt should be non-negative']],
  after_lt: [...unreadable('after_lt', '9223372036854775808'), ['-1', 'after_lt should be non-negative']],
  after_hash: [['x', 'failed to parse after_hash']],
  unixtime: [...unreadable('unixtime', '4294967296'), ['-1', 'unixtime should be non-negative']],
  count: [
    ...unreadable('count', '9223372036854775808'),
    ['0', 'count should be positive'],
    ['10001', 'count should be less or equal 10000'],
  ],
  limit: [
    ...unreadable('limit', '9223372036854775808'),
    ['0', 'limit should be positive'],
    ['1001', 'limit should be less or equal 1000'],
  ],
  hash: [['x', 'failed to parse hash']],
  archival: [['maybe', 'failed to parse archival']],
  param: unreadable('param', '2147483648'),
  config_id: unreadable('config_id', '2147483648'),
  libraries: [[['x'], 'failed to parse libraries']],
  boc: [['', 'empty boc']],
  ttl: [...unreadable('ttl', '2147483648'), ['-1', 'ttl should be non-negative']],
  name: [],
  category: [],
  method: [['', 'empty method']],
  stack: [['x', 'Stack should be array']],
  body: [],
  init_code: [],
  init_data: [],
  ignore_chksig: [],
};

/** Mistakes with a parameter. @throws Error for a name that the table lacks: a new parameter needs its row */
export function badValues(name: string): readonly Bad[] {
  const found = mistakes[name];
  if (found === undefined) throw new Error(`no mistakes are listed for the parameter ${name}`);
  return found;
}

function unreadable(name: string, tooLarge: string): Bad[] {
  return ['x', '1.5', '0x10', '+1', tooLarge].map((value) => [value, `failed to parse ${name}`]);
}
