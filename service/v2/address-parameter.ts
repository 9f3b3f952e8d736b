import { parseAddress, type ParsedAddress } from '../decode/address.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import { invalid } from '../contract/errors.ts';
import type { ParameterSource, RequiredParameter } from '../contract/parameter.ts';

const input = {
  name: 'AddressInput',
  schema: {
    type: 'string',
    pattern: '^(?:-?\\d{1,10}:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{48})$',
    description: 'raw or friendly, either alphabet, any flags',
  },
};

/** Account of an operation: raw or friendly, either base64 alphabet, any flags (service/v2/README.md#inputs). */
export const address: RequiredParameter<AccountId> = accountParameter('address', 'address');

/** Like `address`, with its spelling. */
export const spelledAddress: RequiredParameter<ParsedAddress> = addressParameter(
  'address',
  'address',
  (parsed) => parsed,
);

/** The account that sent a message. */
export const source: RequiredParameter<AccountId> = accountParameter('source', 'source address');

/** The account that a message is for. */
export const destination: RequiredParameter<AccountId> = accountParameter('destination', 'destination address');

function accountParameter(name: string, words: string): RequiredParameter<AccountId> {
  return addressParameter(name, words, ({ workchain, id }) => ({ workchain, id }));
}

/** @param words name of the parameter in messages (service/v2/README.md#validation-messages) */
function addressParameter<T>(name: string, words: string, view: (address: ParsedAddress) => T): RequiredParameter<T> {
  return {
    name,
    missing: `empty ${words}`,
    parse: (raw, kind) => {
      if (raw === '') throw invalid(`empty ${words}`, name);
      const parsed = typeof raw === 'string' ? readAddress(raw, kind) : undefined;
      if (parsed === undefined) throw invalid(`failed to parse ${words}`, name);
      return view(parsed);
    },
    check: () => undefined,
    input,
  };
}

/** An unescaped `+` of the standard alphabet arrives as a space in a query; no address holds a space. */
export function readAddress(text: string, kind: ParameterSource['kind']): ParsedAddress | undefined {
  return parseAddress(kind === 'query' ? text.replaceAll(' ', '+') : text);
}
