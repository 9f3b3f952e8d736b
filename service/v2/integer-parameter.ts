import { invalid } from './errors.ts';
import type { OptionalParameter } from './parameter.ts';
import type { JsonSchema } from './shape.ts';

const int32Min = -(2 ** 31);
const int32Max = 2 ** 31 - 1;

/** Longer texts are zeros in front or beyond every integer type; refused before they are converted. */
const digitsMax = 32;

const seqnoInput: JsonSchema = {
  type: ['string', 'integer'],
  pattern: '^0*[1-9]\\d{0,9}$',
  minimum: 1,
  maximum: int32Max,
};

/** A masterchain seqno to read at, 1..2^31-1; absent means the latest. */
export const optionalSeqno: OptionalParameter<number> = {
  name: 'seqno',
  missing: undefined,
  parse: (raw) => parseInt32(raw, 'seqno'),
  check: (value) => (value > 0 ? undefined : 'seqno should be positive'),
  input: { name: 'SeqnoInput', schema: seqnoInput },
};

/** Decimal text or a JSON integer within 32 signed bits (v2 sheet 7.1). */
function parseInt32(raw: unknown, name: string): number {
  const value = parseInteger(raw);
  if (value === undefined || value < int32Min || value > int32Max) throw invalid(`failed to parse ${name}`, name);
  return Number(value);
}

function parseInteger(raw: unknown): bigint | undefined {
  if (typeof raw === 'bigint') return raw;
  if (typeof raw === 'number') return Number.isInteger(raw) ? BigInt(raw) : undefined;
  if (typeof raw !== 'string' || raw.length > digitsMax || !/^-?\d+$/.test(raw)) return undefined;
  return BigInt(raw);
}
