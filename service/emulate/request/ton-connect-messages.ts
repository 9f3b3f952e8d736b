import { readBase64 } from '#service/contract/boc-parameter.ts';
import { ContractError, invalid } from '#service/contract/errors.ts';
import type { RequiredParameter } from '#service/contract/parameter.ts';
import { isRecord } from '#service/contract/record.ts';
import type { JsonSchema } from '#service/contract/shape.ts';
import { parseAddress, type ParsedAddress } from '#service/decode/address.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type { ContractCell } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import type { ExtraCurrency } from '#service/decode/tlb/currency-collection.ts';
import type { SentMessage } from '../ton-connect/sent-message.ts';

/** Messages of the wallet that sends the most at once. */
const MESSAGES_MAX = 255;

/** Nanotons of one amount, as in `CurrencyCollection`. */
const AMOUNT_BITS = 120;

/** `VarUInteger 32`: the amount of another currency. */
const CURRENCY_BITS = 248;

/** Currencies of one message; the network's configuration allows two. */
const CURRENCIES_MAX = 16;

/** Characters of an amount: the longest one of 248 bits has 75. */
const DIGITS_MAX = 75;

/** Cells of all bags of a request. The bag of the message is written in one turn of the event loop, at some 5 µs a cell. */
const CELLS_MAX = 4_096;

/** Depth of a cell below the messages. The network takes messages below 512 cells of depth. */
const DEPTH_MAX = 510;

const bag: JsonSchema = { type: ['string', 'null'], pattern: '^[A-Za-z0-9+/_-]*={0,2}$' };

const amount: JsonSchema = { type: 'string', pattern: '^[0-9]{1,75}$' };

const message: JsonSchema = {
  type: 'object',
  required: ['address', 'amount'],
  properties: {
    address: { type: 'string', minLength: 1 },
    amount: { ...amount, description: `Nanotons, at most ${AMOUNT_BITS} bits` },
    payload: bag,
    stateInit: bag,
    extra_currency: {
      type: ['object', 'null'],
      maxProperties: CURRENCIES_MAX,
      propertyNames: { pattern: '^[0-9]{1,10}$' },
      additionalProperties: amount,
    },
  },
};

const empty = 'messages array cannot be empty';

/** Messages of a TON Connect request, in the words of the contract (service/emulate/README.md#emulatetonconnect). */
export const tonConnectMessages: RequiredParameter<readonly SentMessage[]> = {
  name: 'messages',
  missing: empty,
  parse: readMessages,
  check: () => undefined,
  input: {
    name: 'TonConnectMessages',
    schema: { type: 'array', minItems: 1, maxItems: MESSAGES_MAX, items: message },
  },
};

function readMessages(raw: unknown): readonly SentMessage[] {
  if (!Array.isArray(raw)) throw refused('messages must be an array');
  if (raw.length === 0) throw refused(empty);
  if (raw.length > MESSAGES_MAX) throw refused(`messages array cannot contain more than ${MESSAGES_MAX} messages`);
  const budget: BagBudget = { cells: CELLS_MAX };
  return raw.map((one: unknown, index) => readMessage(one, index, budget));
}

/** Cells that the bags of a request still may have. */
type BagBudget = { cells: number };

function readMessage(raw: unknown, index: number, budget: BagBudget): SentMessage {
  if (!isRecord(raw)) throw refused(`message at index ${index} must be an object`);
  const of = (field: string): unknown => (Object.hasOwn(raw, field) ? raw[field] : undefined) ?? undefined;
  const { workchain, id, bounceable } = readAddress(of('address'), index);
  return {
    destination: { workchain, id },
    bounce: bounceable,
    amount: readAmount(of('amount'), index),
    extraCurrencies: readCurrencies(of('extra_currency'), index),
    payload: readBag(of('payload'), `invalid message payload at index ${index}`, budget),
    stateInit: readBag(of('stateInit'), `invalid message stateInit at index ${index}`, budget),
  };
}

/** A raw address counts as bounceable. Messages have 8 bits for a workchain. */
function readAddress(raw: unknown, index: number): ParsedAddress {
  if (raw === undefined || raw === '') throw refused(`address in message at index ${index} cannot be empty`);
  const address = typeof raw === 'string' ? parseAddress(raw, { anyTag: true }) : undefined;
  if (address === undefined) throw refused(`invalid address in message at index ${index}`);
  if (address.workchain !== (address.workchain << 24) >> 24) {
    throw refused(`invalid address in message at index ${index}: the workchain has more than 8 bits`);
  }
  return address;
}

function readAmount(raw: unknown, index: number): bigint {
  if (raw === undefined || raw === '') throw refused(`amount in message at index ${index} cannot be empty`);
  const value = readDigits(raw, AMOUNT_BITS);
  if (value !== undefined) return value;
  throw refused(`invalid amount in message at index ${index}: not a decimal string of at most ${AMOUNT_BITS} bits`);
}

function readCurrencies(raw: unknown, index: number): readonly ExtraCurrency[] {
  if (raw === undefined) return [];
  const refuse = (reason: string): ContractError =>
    refused(`invalid extra_currency in message at index ${index}: ${reason}`);
  if (!isRecord(raw)) throw refuse('not an object');
  const entries = Object.entries(raw);
  if (entries.length > CURRENCIES_MAX) throw refuse(`more than ${CURRENCIES_MAX} currencies`);
  const currencies = entries.map(([key, value]) => {
    const id = readDigits(key, 32);
    if (id === undefined) throw refuse('an id is not a decimal string of at most 32 bits');
    const sum = readDigits(value, CURRENCY_BITS);
    if (sum === undefined) throw refuse(`the amount of ${id} is not a decimal string of at most ${CURRENCY_BITS} bits`);
    return { id: Number(id), amount: sum };
  });
  if (new Set(currencies.map(({ id }) => id)).size < currencies.length) throw refuse('an id is there twice');
  return currencies;
}

/** Undefined for anything but digits, and beyond the bits. */
function readDigits(raw: unknown, bits: number): bigint | undefined {
  if (typeof raw !== 'string' || raw.length > DIGITS_MAX || !/^\d+$/.test(raw)) return undefined;
  const value = BigInt(raw);
  return value < 2n ** BigInt(bits) ? value : undefined;
}

/** Undefined when there is no bag. */
function readBag(raw: unknown, place: string, budget: BagBudget): ContractCell | undefined {
  if (raw === undefined || raw === '') return undefined;
  try {
    return openBag(raw, budget);
  } catch (error) {
    if (error instanceof DecodeError || error instanceof ContractError) throw refused(`${place}: ${error.message}`);
    throw error;
  }
}

/** Reads a bag of cells with one root. Pruned branches are refused, because no message has them. Throws ContractError, DecodeError. */
function openBag(raw: unknown, budget: BagBudget): ContractCell {
  if (typeof raw !== 'string') throw refused('not a bag of cells in base64');
  const table = parseBoc(readBase64(raw, 'messages'), { rootsMax: 1, cellsMax: budget.cells });
  budget.cells -= table.size;
  const cell = table.roots[0]!;
  // Checks the hashes in Merkle cells, too.
  table.hash(cell);
  if (table.levelMask(cell) !== 0) throw refused('the bag has a pruned branch');
  if (table.depth(cell) > DEPTH_MAX) throw refused(`cells are deeper than ${DEPTH_MAX}`);
  return { table, cell };
}

function refused(reason: string): ContractError {
  return invalid(reason, 'messages');
}
