import { parseAddress } from '#service/decode/address.ts';
import { interfacesOf, type AccountCode } from '../views/account-interfaces.ts';
import { viewAddressBookRow, type AddressBookRow } from '../views/address-book-row.ts';
import type { FoundAccounts } from './account-label-cache.ts';
import type { DescribedAccount } from './token-info-cache.ts';

/** Accounts as a simulation leaves them, by raw address. */
export type SimulatedLabels = {
  /** True for friendly addresses of a test network. */
  readonly testOnly: boolean;
  readonly codes: ReadonlyMap<string, AccountCode>;
  /** Tokens from their own contracts. */
  readonly tokens: ReadonlyMap<string, DescribedAccount>;
};

/** The same accounts with interfaces and friendly form by their simulated code. Their domains are those of the index. */
export function relabel(found: FoundAccounts, { codes, testOnly }: SimulatedLabels): FoundAccounts {
  const labels = new Map(found);
  for (const [raw, code] of codes) {
    const label = found.get(raw);
    const address = parseAddress(raw);
    if (label === undefined || address === undefined) continue;
    const { domain } = JSON.parse(label.row) as AddressBookRow;
    const codeHash = code.codeHash === null ? null : Buffer.from(code.codeHash, 'base64');
    const row = viewAddressBookRow(address, { codeHash, domain, interfaces: interfacesOf(code) }, { testOnly });
    labels.set(raw, { ...label, row: JSON.stringify(row) });
  }
  return labels;
}
