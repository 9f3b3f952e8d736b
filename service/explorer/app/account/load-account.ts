import { ApiError, type Api } from '../api.ts';
import type { Labels } from '../objects.ts';
import { parseAddress, rawForm, type ParsedAddress } from './address-forms.ts';

/** State of an account as v3 has it. */
export type AccountState = {
  readonly address: string;
  readonly account_state_hash: string;
  readonly balance: string | null;
  readonly extra_currencies: Readonly<Record<string, string>> | null;
  readonly status: string | null;
  readonly frozen_hash?: string;
  readonly code_hash?: string;
  readonly data_hash?: string;
  readonly last_transaction_hash: string | null;
  readonly last_transaction_lt: string | null;
  readonly contract_methods: readonly number[] | null;
  readonly interfaces: readonly string[] | null;
};

export type Wallet = {
  readonly is_wallet: boolean;
  readonly wallet_type?: string;
  readonly seqno?: number;
  readonly wallet_id?: number;
  readonly is_signature_allowed?: boolean;
};

export type Account = {
  readonly address: ParsedAddress;
  /** True for a network of tests: its friendly addresses say so. */
  readonly isTestOnly: boolean;
  /** Undefined for an account that no block has touched. */
  readonly state: AccountState | undefined;
  readonly wallet: Wallet | undefined;
  readonly labels: Labels;
};

/** Reads an account. @throws ApiError 422 for a text that is no address */
export async function loadAccount(api: Api, text: string, signal: AbortSignal): Promise<Account> {
  const address = parseAddress(text);
  if (address === undefined) throw new ApiError(422, 'The text is no address.');
  const raw = rawForm(address);
  const [states, wallets, book] = await Promise.all([
    api.v3<{ accounts: AccountState[] } & Labels>('accountStates', { address: raw, include_boc: false }, signal),
    api.v3<{ wallets: Wallet[] }>('walletStates', { address: raw }, signal),
    api.v3<NonNullable<Labels['address_book']>>('addressBook', { address: raw }, signal),
  ]);
  const friendly = Object.values(book)[0]?.user_friendly ?? '';
  return {
    address,
    isTestOnly: parseAddress(friendly)?.isTestOnly ?? address.isTestOnly,
    state: states.accounts[0],
    wallet: wallets.wallets[0],
    labels: { ...states, address_book: { ...states.address_book, [raw]: Object.values(book)[0] ?? missing } },
  };
}

const missing = { user_friendly: null, domain: null };
