import { type ContractError, invalid } from '#service/contract/errors.ts';
import type { RequiredParameter } from '#service/contract/parameter.ts';
import { isRecord } from '#service/contract/record.ts';
import type { JsonSchema } from '#service/contract/shape.ts';
import { fitsFriendly, parseAddress, type ParsedAddress } from '#service/decode/address.ts';
import type { ContractCell } from '#service/decode/contract-data.ts';
import type { ExtraCurrency } from '#service/decode/tlb/currency-collection.ts';
import type { SentMessage } from '../ton-connect/sent-message.ts';
import { readBag, type CellBudget } from './bag.ts';
import { digitsPattern, readDigits } from './digits.ts';

/** Messages of the wallet that sends the most at once. */
const MESSAGES_MAX = 255;

/** Nanotons of one amount, as in `CurrencyCollection`. */
const AMOUNT_BITS = 120;

/** `VarUInteger 32`: the amount of another currency. */
const CURRENCY_BITS = 248;

/** Currencies of one message; the network's configuration allows two. */
const CURRENCIES_MAX = 16;

const CURRENCY_ID_BITS = 32;

/** Cells of all bags of a request. The bag of the message is written in one turn of the event loop, at some 5 µs a cell. */
const CELLS_MAX = 4_096;

/** Depth of a cell below the messages. The network takes messages below 512 cells of depth. */
const DEPTH_MAX = 510;

const bag: JsonSchema = { type: ['string', 'null'], pattern: '^[A-Za-z0-9+/_-]*={0,2}$' };

const message: JsonSchema = {
  type: 'object',
  required: ['address', 'amount'],
  properties: {
    address: { type: 'string', minLength: 1 },
    amount: {
      type: 'string',
      ...digitsPattern(AMOUNT_BITS),
      description: `Nanotons, at most ${AMOUNT_BITS} bits`,
    },
    payload: bag,
    stateInit: bag,
    extra_currency: {
      type: ['object', 'null'],
      maxProperties: CURRENCIES_MAX,
      propertyNames: digitsPattern(CURRENCY_ID_BITS),
      additionalProperties: { type: 'string', ...digitsPattern(CURRENCY_BITS) },
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
  const budget: CellBudget = { cells: CELLS_MAX };
  return raw.map((one: unknown, index) => readMessage(one, index, budget));
}

function readMessage(raw: unknown, index: number, budget: CellBudget): SentMessage {
  if (!isRecord(raw)) throw refused(`message at index ${index} must be an object`);
  const of = (field: string): unknown => (Object.hasOwn(raw, field) ? raw[field] : undefined) ?? undefined;
  const { workchain, id, bounceable } = readAddress(of('address'), index);
  return {
    destination: { workchain, id },
    bounce: bounceable,
    amount: readAmount(of('amount'), index),
    extraCurrencies: readCurrencies(of('extra_currency'), index),
    payload: readCell(of('payload'), `invalid message payload at index ${index}`, budget),
    stateInit: readCell(of('stateInit'), `invalid message stateInit at index ${index}`, budget),
  };
}

/** A raw address counts as bounceable. Messages have 8 bits for a workchain. */
function readAddress(raw: unknown, index: number): ParsedAddress {
  if (raw === undefined || raw === '') throw refused(`address in message at index ${index} cannot be empty`);
  const address = typeof raw === 'string' ? parseAddress(raw, { anyTag: true }) : undefined;
  if (address === undefined) throw refused(`invalid address in message at index ${index}`);
  if (!fitsFriendly(address)) {
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
    const id = readDigits(key, CURRENCY_ID_BITS);
    if (id === undefined) throw refuse(`an id is not a decimal string of at most ${CURRENCY_ID_BITS} bits`);
    const sum = readDigits(value, CURRENCY_BITS);
    if (sum === undefined) throw refuse(`the amount of ${id} is not a decimal string of at most ${CURRENCY_BITS} bits`);
    return { id: Number(id), amount: sum };
  });
  if (new Set(currencies.map(({ id }) => id)).size < currencies.length) throw refuse('an id is there twice');
  return currencies;
}

/** Undefined when there is no bag. */
function readCell(raw: unknown, place: string, budget: CellBudget): ContractCell | undefined {
  if (raw === undefined || raw === '') return undefined;
  const table = readBag(raw, { place, name: 'messages', budget, depthMax: DEPTH_MAX, checksHashes: true });
  return { table, cell: table.roots[0]! };
}

function refused(reason: string): ContractError {
  return invalid(reason, 'messages');
}
