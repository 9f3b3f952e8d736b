import { constant, named, oneOfStrings, scalar } from '../contract/shape.ts';

/** Scalars of answers (service/v2/README.md#outputs). Hashes are standard base64; numbers that may exceed 2^53 are decimal strings. */

export const hash = named(
  'Hash',
  scalar<string>({
    type: 'string',
    pattern: '^[A-Za-z0-9+/]{43}=$',
    description: '32 bytes, standard base64 with padding',
  }),
);

export const boc = named(
  'Boc',
  scalar<string>({
    type: 'string',
    pattern: '^te6cc[A-Za-z0-9+/]+={0,2}$',
    description: 'single-root bag of cells, base64',
  }),
);

export const bocOrEmpty = named(
  'BocOrEmpty',
  scalar<string>({ type: 'string', pattern: '^(?:te6cc[A-Za-z0-9+/]+={0,2})?$' }),
);

export const nano = named(
  'Nano',
  scalar<string>({ type: 'string', pattern: '^(?:0|[1-9]\\d*)$', description: 'unsigned decimal' }),
);

export const lt = named(
  'Lt',
  scalar<string>({
    type: 'string',
    pattern: '^(?:0|[1-9]\\d{0,18})$',
    description: 'logical time, unsigned 63-bit decimal',
  }),
);

export const shardId = named(
  'ShardId',
  scalar<string>({ type: 'string', pattern: '^(?:0|-?[1-9]\\d{0,18})$', description: 'signed 64-bit decimal' }),
);

export const int32 = named(
  'Int32',
  scalar<number>({ type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 }),
);

export const uint31 = named(
  'UInt31',
  scalar<number>({ type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 }),
);

export const uint32 = named('UInt32', scalar<number>({ type: 'integer', minimum: 0, maximum: 4_294_967_295 }));

export const uint63 = named('UInt63', scalar<number>({ type: 'integer', format: 'int64', minimum: 0 }));

export const accountStatus = named('AccountStatus', oneOfStrings(['uninitialized', 'active', 'frozen']));

export const flag = scalar<boolean>({ type: 'boolean' });

export const emptyText = constant('');

export const base64 = named(
  'Base64',
  scalar<string>({ type: 'string', pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$' }),
);

export const hexHash = named(
  'HexHash',
  scalar<string>({ type: 'string', pattern: '^[0-9a-f]{64}$', description: '32 bytes, lower-case hex' }),
);

export const friendlyAddress = named(
  'FriendlyAddress',
  scalar<string>({ type: 'string', pattern: '^[A-Za-z0-9_-]{48}$', description: 'user-friendly form, base64url' }),
);

export const friendlyAddressOrEmpty = named(
  'FriendlyAddressOrEmpty',
  scalar<string>({ type: 'string', pattern: '^(?:[A-Za-z0-9_-]{48})?$' }),
);

export const rawAddressLower = named(
  'RawAddressLower',
  scalar<string>({ type: 'string', pattern: '^-?\\d{1,10}:[0-9a-f]{64}$' }),
);

export const rawAddressUpper = named(
  'RawAddressUpper',
  scalar<string>({ type: 'string', pattern: '^-?\\d{1,10}:[0-9A-F]{64}$' }),
);

export const text = scalar<string>({ type: 'string' });
