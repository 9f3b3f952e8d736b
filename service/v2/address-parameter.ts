import { parseAddress } from '../decode/address.ts';
import type { AccountId } from '../live/accounts.ts';
import { invalid } from './errors.ts';
import type { RequiredParameter } from './parameter.ts';

/** The account an operation is about: raw or friendly, either base64 alphabet, any flags (v2 sheet 7.1). */
export const address: RequiredParameter<AccountId> = {
  name: 'address',
  missing: 'empty address',
  parse: (raw, kind) => {
    if (raw === '') throw invalid('empty address', 'address');
    const account = typeof raw === 'string' ? readAddress(raw, kind) : undefined;
    if (account === undefined) throw invalid('failed to parse address', 'address');
    return { workchain: account.workchain, id: account.id };
  },
  check: () => undefined,
  input: {
    name: 'AddressInput',
    schema: {
      type: 'string',
      pattern: '^(?:-?\\d{1,10}:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{48})$',
      description: 'raw or friendly, either alphabet, any flags',
    },
  },
};

/** An unescaped `+` of the standard alphabet arrives as a space in a query; no address holds a space. */
function readAddress(text: string, kind: 'query' | 'body') {
  return parseAddress(kind === 'query' ? text.replaceAll(' ', '+') : text);
}
