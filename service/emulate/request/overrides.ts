import { invalid } from '#service/contract/errors.ts';
import type { OptionalParameter } from '#service/contract/parameter.ts';
import { isRecord } from '#service/contract/record.ts';
import type { JsonSchema } from '#service/contract/shape.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import type { Boc } from '#service/decode/boc.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import type { AccountOverride } from '#service/simulation/account-overrides.ts';
import { readAccount } from '#service/v3/request/parameter-values.ts';
import { readBagInSlices } from './bag.ts';
import { digitsPattern, readDigits } from './digits.ts';

/** Accounts of a request: each is read from lite servers and written again. */
const ACCOUNTS_MAX = 16;

/** Nanotons, as in `CurrencyCollection`. */
const BALANCE_BITS = 120;

/** Depth of an account's cells below `Account` and `StateInit`, which have 1,024 levels in all. */
const DEPTH_MAX = 512;

/** Cells of all code and data of a request, as one account may have. */
const CELLS_MAX = 65_536;

const part: JsonSchema = { type: ['string', 'null'] };

const schema: JsonSchema = {
  type: 'object',
  maxProperties: ACCOUNTS_MAX,
  additionalProperties: {
    type: 'object',
    properties: { balance: { ...part, ...digitsPattern(BALANCE_BITS) }, code: part, data: part },
    additionalProperties: false,
  },
};

const fields: ReadonlySet<string> = new Set(['balance', 'code', 'data']);

/** Parts of an account in place of the chain's, as a request has them. The bags are still to be read. */
export type RequestedOverride = Pick<AccountOverride, 'account' | 'balance'> & {
  /** For messages to the caller. */
  readonly place: string;
  /** Bags of cells in base64. */
  readonly code?: unknown;
  readonly data?: unknown;
};

/** Parts of accounts in place of the chain's, by address (service/emulate/README.md#overrides). An account without parts is left out. */
export function overrides(name: string): OptionalParameter<readonly RequestedOverride[]> {
  return {
    name,
    missing: undefined,
    parse: (raw) => readOverrides(raw, name),
    check: () => undefined,
    input: { name: 'AccountOverrides', schema },
  };
}

function readOverrides(raw: unknown, name: string): readonly RequestedOverride[] {
  if (!isRecord(raw)) throw invalid(`${name} must be an object`, name);
  const entries = Object.entries(raw);
  if (entries.length > ACCOUNTS_MAX) throw invalid(`${name} cannot contain more than ${ACCOUNTS_MAX} accounts`, name);
  const seen = new Set<string>();
  const all = entries.map(([address, value]): RequestedOverride => {
    const account = readAccount(address);
    const place = `${name}[${JSON.stringify(address.slice(0, ADDRESS_CHARACTERS_MAX))}]`;
    if (account === undefined) throw invalid(`${place}: the name is no address`, name);
    const key = formatRawAddress(account);
    if (seen.has(key)) throw invalid(`${place}: the account is there twice`, name);
    seen.add(key);
    return { account, place, ...readParts(value, { place, name }) };
  });
  return all.filter(({ balance, code, data }) => balance !== undefined || code !== undefined || data !== undefined);
}

/** Characters of a name in a message: the longest address has fewer. */
const ADDRESS_CHARACTERS_MAX = 80;

function readParts(
  value: unknown,
  { place, name }: { readonly place: string; readonly name: string },
): Pick<RequestedOverride, 'balance' | 'code' | 'data'> {
  if (!isRecord(value)) throw invalid(`${place} must be an object`, name);
  const unknown = Object.keys(value).find((field) => !fields.has(field));
  if (unknown !== undefined) {
    throw invalid(`${place}: the field ${JSON.stringify(unknown.slice(0, ADDRESS_CHARACTERS_MAX))} is unknown`, name);
  }
  const of = (field: string): unknown => value[field] ?? undefined;
  const [balance, code, data] = [of('balance'), of('code'), of('data')];
  return {
    ...(balance !== undefined && { balance: readBalance(balance, `${place}.balance`, name) }),
    ...(code !== undefined && { code }),
    ...(data !== undefined && { data }),
  };
}

/** Reads the bags of a request, with other requests in between. Rejects with ContractError, and when the time slice ends. */
export async function openOverrides(
  requested: readonly RequestedOverride[],
  timeSlice: TimeSlice,
): Promise<readonly AccountOverride[]> {
  // Hashes are checked when the account is made.
  const rules = { name: 'overrides', budget: { cells: CELLS_MAX }, depthMax: DEPTH_MAX, checksHashes: false };
  const opened: AccountOverride[] = [];
  for (const { account, place, balance, ...parts } of requested) {
    const bags: { code?: Boc; data?: Boc } = {};
    for (const field of ['code', 'data'] as const) {
      if (parts[field] === undefined) continue;
      await timeSlice.pause();
      bags[field] = await readBagInSlices(parts[field], { ...rules, place: `${place}.${field}` }, timeSlice);
    }
    opened.push({ account, ...(balance !== undefined && { balance }), ...bags });
  }
  return opened;
}

function readBalance(value: unknown, place: string, name: string): bigint {
  const amount = readDigits(value, BALANCE_BITS);
  if (amount === undefined) throw invalid(`${place} must be a decimal string of at most ${BALANCE_BITS} bits`, name);
  return amount;
}
