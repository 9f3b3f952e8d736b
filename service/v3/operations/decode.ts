import { invalid } from '#service/contract/errors.ts';
import { withDefault, type DefaultedParameter } from '#service/contract/parameter.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { list, named, object, oneOf, scalar, type Infer } from '#service/contract/shape.ts';
import { parseBoc, type Boc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { BodyBudget, type DecodedBody } from '#service/decode/messages/decoded.ts';
import { decodeBody, decodedOpcode } from '#service/decode/messages/messages.ts';
import { READ_LIMITS } from '#service/decode/read-budget.ts';
import { decoded } from '../views/message-views.ts';
import { isComment, viewDecoded } from '../views/payloads.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { anyText } from '../request/scalars.ts';

const undecoded = named('Undecoded', object({ error: scalar<string>({ type: 'string', pattern: '^unknown: ' }) }));

const decodeResponse = named(
  'DecodeResponse',
  object({ opcodes: list(anyText), bodies: list(oneOf([decoded, undecoded])) }),
);

type BodyView = Infer<typeof decodeResponse>['bodies'][number];

/** Items of each list (service/v3/README.md#decoding). */
const ITEMS_MAX = 1000;

/** A message has at most 8192 cells and 2^21 bits; a bag may spell them in twice the bytes. */
const bagLimits = { bytesMax: 1 << 20, cellsMax: 8192, rootsMax: 1 };

/** Operation that decodes opcodes and bodies (service/v3/README.md#decoding). */
export function decodeOperations(): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'decode',
      methods: ['GET', 'POST'],
      tag: 'utils',
      summary: 'Names of operations, and bodies of messages by what they say.',
      parameters: { opcodes: itemsOf('opcodes'), bodies: itemsOf('bodies') },
      result: decodeResponse,
      handle: async ({ opcodes, bodies }, { signal }) => ({
        opcodes: opcodes.map((text, index) => decodedOpcode(readOpcodeText(text, index)) ?? 'unknown'),
        bodies: await viewBodies(bodies, signal),
      }),
    }),
  ];
}

/** Texts unchanged: repeated in a query, an array in a body. */
function itemsOf(name: string): DefaultedParameter<readonly string[]> {
  return withDefault(
    {
      name,
      missing: undefined,
      repeats: true,
      parse: (raw, kind) => readItems(raw, kind === 'query', name),
      check: (items) => (items.length > ITEMS_MAX ? `${name} list exceeds maximum length of ${ITEMS_MAX}` : undefined),
      input: { name, schema: { type: 'string' } },
    },
    [],
  );
}

/** A name in a query without a value has no items. */
function readItems(raw: unknown, isQuery: boolean, name: string): readonly string[] {
  if (!Array.isArray(raw)) throw invalid(`failed to decode: ${name} must be a list of strings`, name);
  if (isQuery && raw.length === 1 && raw[0] === '') return [];
  return raw.map((item, index) => {
    if (typeof item === 'string') return item;
    throw invalid(`failed to decode: schema: error converting value for index ${index} of "${name}"`, name);
  });
}

/** Reads hex, then decimal, then signed numbers of 32 bits, after removing `0x`. Longer texts are no opcodes. */
function readOpcodeText(text: string, index: number): number {
  const digits = text.replace(/^0[xX]/, '');
  const values = [
    ...(/^[0-9a-fA-F]{1,32}$/.test(digits) ? [BigInt(`0x${digits}`)] : []),
    ...(/^-?[0-9]{1,32}$/.test(digits) ? [BigInt(digits)] : []),
  ];
  const value = values.find((one) => one >= -(2n ** 31n) && one < 2n ** 32n);
  if (value === undefined) throw invalid(`invalid opcode format at index ${index}: ${text}`, 'opcodes');
  return Number(BigInt.asUintN(32, value));
}

/** JSON characters of all decoded bodies of an answer. */
const OUTPUT_MAX = 3 * 1024 * 1024;

/** Decodes bodies one at a time, with pauses for other requests. The bodies of an answer share its budget. */
async function viewBodies(texts: readonly string[], signal: AbortSignal): Promise<BodyView[]> {
  const timeSlice = createTimeSlice(signal);
  const shown: BodyView[] = [];
  let left = OUTPUT_MAX;
  for (const text of texts) {
    await timeSlice.pause();
    const budget = new BodyBudget({ output: Math.min(left, READ_LIMITS.output) });
    shown.push(viewBody(text, budget));
    left = Math.max(0, left - budget.outputTaken);
  }
  return shown;
}

function viewBody(text: string, budget: BodyBudget): BodyView {
  const bytes = text.startsWith('te6') ? readBase64(text) : readHex(text);
  if (typeof bytes === 'string') return { error: `unknown: ${bytes}` };
  let boc: Boc;
  try {
    boc = parseBoc(bytes, bagLimits);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { error: `unknown: failed to deserialize boc: ${error.message}` };
  }
  const [root] = boc.roots as [number];
  if (boc.kind(root) !== 'ordinary') return { error: 'unknown: no parser succeeded' };
  const body = new CellSlice(boc, root);
  const value = decodeBody(body, budget);
  if (value !== undefined) return viewOfBoth(value);
  if (budget.isSpent) return { error: 'unknown: the body takes more than is left of the answer' };
  const isShort = body.remainingBits < 32;
  return { error: `unknown: ${isShort ? `boc is too small, size ${body.remainingBits}` : 'no parser succeeded'}` };
}

/** A text comment has the fields of this operation and those of messages: clients read either. */
function viewOfBoth(body: DecodedBody): DecodedBody {
  return isComment(body) ? { ...viewDecoded(body), ...body } : body;
}

/** Bytes of either alphabet, padded or not; the reason of the failure for other texts. */
function readBase64(text: string): Buffer | string {
  const digits = text.replace(/={0,2}$/, '');
  const isBase64 = /^[A-Za-z0-9+/_-]*$/.test(digits) && digits.length % 4 !== 1;
  return isBase64 ? Buffer.from(digits, 'base64') : 'failed to decode base64';
}

function readHex(text: string): Buffer | string {
  const isHex = /^(?:[0-9a-fA-F]{2})*$/.test(text);
  return isHex ? Buffer.from(text, 'hex') : 'failed to deserialize boc: the text is neither base64 of a BoC nor hex';
}
