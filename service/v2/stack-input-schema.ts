import { referenceTo, type JsonSchema } from '../contract/shape.ts';

// Document schemas of get-method arguments; `stack-input.ts` reads the arguments.

/** Name and schema of a stack, and of the entries in it. */
export type StackInput = {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly definitions: ReadonlyMap<string, JsonSchema>;
};

const refer = (name: string): JsonSchema => ({ $ref: referenceTo(name) });

const base64: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9+/_-]+={0,2}$' };
const base64OrEmpty: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9+/_-]*={0,2}$' };
const numberPattern = '^-?(?:\\d+|0[xX][0-9a-fA-F]+)$';

/** Object with its type and one more field. */
function tagged(type: string, field: string, schema: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['@type', field],
    properties: { '@type': { const: type }, [field]: schema },
    additionalProperties: false,
  };
}

function pair(tags: readonly string[], schema: JsonSchema): JsonSchema {
  return { type: 'array', prefixItems: [{ enum: tags }, schema], items: false, minItems: 2, maxItems: 2 };
}

const elements: JsonSchema = { type: 'array', items: refer('InStackEntry') };

const typedDefinitions: readonly (readonly [string, JsonSchema])[] = [
  ['InNumber', tagged('tvm.numberDecimal', 'number', { type: 'string', pattern: numberPattern })],
  ['InCell', tagged('tvm.cell', 'bytes', base64)],
  ['InSlice', tagged('tvm.slice', 'bytes', base64)],
  ['InTuple', tagged('tvm.tuple', 'elements', elements)],
  ['InList', tagged('tvm.list', 'elements', elements)],
  ['InEntryNumber', tagged('tvm.stackEntryNumber', 'number', refer('InNumber'))],
  ['InEntryCell', tagged('tvm.stackEntryCell', 'cell', refer('InCell'))],
  ['InEntrySlice', tagged('tvm.stackEntrySlice', 'slice', refer('InSlice'))],
  ['InEntryTuple', tagged('tvm.stackEntryTuple', 'tuple', refer('InTuple'))],
  ['InEntryList', tagged('tvm.stackEntryList', 'list', refer('InList'))],
  [
    'InStackEntry',
    { oneOf: ['InEntryNumber', 'InEntryCell', 'InEntrySlice', 'InEntryTuple', 'InEntryList'].map(refer) },
  ],
];

/** A cell as answers show it: its BoC, or nested objects. */
const cellObject: JsonSchema = {
  oneOf: [
    base64,
    { type: 'object', required: ['bytes'], properties: { bytes: base64, object: { type: 'object' } } },
    {
      type: 'object',
      required: ['data', 'refs'],
      properties: {
        data: {
          type: 'object',
          required: ['b64', 'len'],
          properties: { b64: base64OrEmpty, len: { type: 'integer', minimum: 0, maximum: 1023 } },
        },
        refs: { type: 'array', maxItems: 4, items: { type: 'object' } },
        special: { type: 'boolean' },
      },
      additionalProperties: false,
    },
  ],
};

const legacyNull: JsonSchema = {
  type: 'array',
  prefixItems: [{ const: 'null' }, { type: 'null' }],
  items: false,
  minItems: 1,
  maxItems: 2,
};

const legacyDefinitions: readonly (readonly [string, JsonSchema])[] = [
  ...typedDefinitions,
  ['InLegacyNum', pair(['num', 'int', 'number', 'integer'], { type: ['string', 'integer'], pattern: numberPattern })],
  ['InLegacyCell', pair(['cell', 'slice', 'builder'], cellObject)],
  ['InLegacyBoc', pair(['tvm.Cell', 'tvm.Slice', 'tvm.Builder'], base64)],
  ['InLegacyTuple', pair(['tuple', 'tvm.Tuple'], refer('InTuple'))],
  ['InLegacyList', pair(['list', 'tvm.List'], refer('InList'))],
  ['InLegacyNull', legacyNull],
  [
    'InLegacyEntry',
    {
      oneOf: ['InLegacyNum', 'InLegacyCell', 'InLegacyBoc', 'InLegacyTuple', 'InLegacyList', 'InLegacyNull'].map(refer),
    },
  ],
];

export const typedStackInput: StackInput = {
  name: 'InStack',
  schema: { type: 'array', items: refer('InStackEntry') },
  definitions: new Map(typedDefinitions),
};

export const legacyStackInput: StackInput = {
  name: 'InLegacyStack',
  schema: { type: 'array', items: refer('InLegacyEntry') },
  definitions: new Map(legacyDefinitions),
};
