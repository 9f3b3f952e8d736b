import { invalid } from '#service/contract/errors.ts';
import type { OptionalParameter } from '#service/contract/parameter.ts';
import { isRecord } from '#service/contract/record.ts';
import type { JsonSchema } from '#service/contract/shape.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import type { AccountOverride } from '#service/simulation/account-overrides.ts';
import { readAccount } from '#service/v3/request/parameter-values.ts';
import { readBag, type CellBudget } from './bag.ts';
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

/** Parts of accounts in place of the chain's, by address (service/emulate/README.md#overrides). An account without parts is left out. */
export function overrides(name: string): OptionalParameter<readonly AccountOverride[]> {
  return {
    name,
    missing: undefined,
    parse: (raw) => readOverrides(raw, name),
    check: () => undefined,
    input: { name: 'AccountOverrides', schema },
  };
}

function readOverrides(raw: unknown, name: string): readonly AccountOverride[] {
  if (!isRecord(raw)) throw invalid(`${name} must be an object`, name);
  const entries = Object.entries(raw);
  if (entries.length > ACCOUNTS_MAX) throw invalid(`${name} cannot contain more than ${ACCOUNTS_MAX} accounts`, name);
  const seen = new Set<string>();
  const budget: CellBudget = { cells: CELLS_MAX };
  const all = entries.map(([address, value]): AccountOverride => {
    const account = readAccount(address);
    const place = `${name}[${JSON.stringify(address.slice(0, ADDRESS_CHARACTERS_MAX))}]`;
    if (account === undefined) throw invalid(`${place}: the name is no address`, name);
    const key = formatRawAddress(account);
    if (seen.has(key)) throw invalid(`${place}: the account is there twice`, name);
    seen.add(key);
    return { account, ...readParts(value, { place, name, budget }) };
  });
  return all.filter(({ balance, code, data }) => balance !== undefined || code !== undefined || data !== undefined);
}

/** Characters of a name in a message: the longest address has fewer. */
const ADDRESS_CHARACTERS_MAX = 80;

/** Place of a part in the request, for messages, and the request's budget. */
type PartPlace = { readonly place: string; readonly name: string; readonly budget: CellBudget };

function readParts(value: unknown, { place, name, budget }: PartPlace): Omit<AccountOverride, 'account'> {
  if (!isRecord(value)) throw invalid(`${place} must be an object`, name);
  const unknown = Object.keys(value).find((field) => !fields.has(field));
  if (unknown !== undefined) {
    throw invalid(`${place}: the field ${JSON.stringify(unknown.slice(0, ADDRESS_CHARACTERS_MAX))} is unknown`, name);
  }
  const of = (field: string): unknown => value[field] ?? undefined;
  const [balance, code, data] = [of('balance'), of('code'), of('data')];
  // Hashes are checked when the account is made, in slices of time.
  const rules = { name, budget, depthMax: DEPTH_MAX, checksHashes: false };
  return {
    ...(balance !== undefined && { balance: readBalance(balance, `${place}.balance`, name) }),
    ...(code !== undefined && { code: readBag(code, { place: `${place}.code`, ...rules }) }),
    ...(data !== undefined && { data: readBag(data, { place: `${place}.data`, ...rules }) }),
  };
}

function readBalance(value: unknown, place: string, name: string): bigint {
  const amount = readDigits(value, BALANCE_BITS);
  if (amount === undefined) throw invalid(`${place} must be a decimal string of at most ${BALANCE_BITS} bits`, name);
  return amount;
}
