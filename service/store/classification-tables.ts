import {
  address,
  addresses,
  amount,
  bool,
  bytes,
  defineTable,
  hash,
  hashes,
  int,
  json,
  lt,
  nullable,
  small,
  text,
  texts,
  type Row,
} from './columns.ts';

// Results of interpretation: contracts, from get-methods on proved states, and actions, from the transactions of traces.
// A greater `last_trans_lt` replaces the row of a contract. A contract that stops matching keeps its row
// (service/interfaces/README.md#kinds-of-contracts).
// Migrations add an `id` to contracts' tables, in the order of first sight.

/** Columns of each contract's state. */
const state = {
  /** Last transaction of the state that the row comes from. */
  last_trans_lt: lt,
  code_hash: nullable(hash),
  data_hash: nullable(hash),
};

/** Jetton masters (service/v3/README.md#jettons). */
export const jettonMasters = defineTable('jetton_masters', ['address'], {
  address,
  total_supply: amount,
  mintable: bool,
  admin: nullable(address),
  /** TEP-64 keys, or `uri`. */
  content: json,
  wallet_code_hash: hash,
  ...state,
});

/** Jetton wallets that their masters confirm (service/v3/README.md#jettons). */
export const jettonWallets = defineTable('jetton_wallets', ['address'], {
  address,
  balance: amount,
  owner: address,
  jetton: address,
  /** Null for a wallet without this get-method. */
  mintless_is_claimed: nullable(bool),
  ...state,
});

/** NFT collections (service/v3/README.md#nfts). */
export const nftCollections = defineTable('nft_collections', ['address'], {
  address,
  next_item_index: amount,
  owner: nullable(address),
  content: json,
  ...state,
});

/** NFT items without a collection, or confirmed by it (service/v3/README.md#nfts). */
export const nftItems = defineTable('nft_items', ['address'], {
  address,
  init: bool,
  index: amount,
  collection: nullable(address),
  owner: nullable(address),
  content: json,
  ...state,
});

/** Contracts that sell an item (service/v3/README.md#nft-sales). */
export const nftSales = defineTable('nft_sales', ['address'], {
  address,
  /** `getgems_sale`, `getgems_auction`, `telemint`. */
  type: text,
  nft: nullable(address),
  nft_owner: nullable(address),
  marketplace: nullable(address),
  /** Unix seconds, the signed view of 32 unsigned bits. */
  created_at: nullable(int),
  /** Raw addresses and amounts as decimal text, as in `details` of nft/sales. */
  details: json,
  ...state,
});

/** Names (service/v3/README.md#dns-records). */
export const dnsEntries = defineTable('dns_entries', ['nft_item'], {
  nft_item: address,
  nft_item_owner: nullable(address),
  /** In full, as `foo.ton`. */
  domain: text,
  next_resolver: nullable(address),
  wallet: nullable(address),
  /** Upper-case hex of 256 bits. */
  site_adnl: nullable(text),
  storage_bag_id: nullable(text),
  last_trans_lt: lt,
});

/** Multisig wallets (service/v3/README.md#multisigs). */
export const multisigs = defineTable('multisigs', ['address'], {
  address,
  next_order_seqno: nullable(amount),
  threshold: int,
  signers: addresses,
  proposers: addresses,
  ...state,
});

/** Multisig orders that their multisig confirms (service/v3/README.md#multisigs). */
export const multisigOrders = defineTable('multisig_orders', ['address'], {
  address,
  multisig: address,
  order_seqno: nullable(amount),
  threshold: int,
  sent_for_execution: bool,
  approvals_mask: amount,
  approvals_num: int,
  /** Unix seconds; they may be of 48 bits. */
  expiration_date: lt,
  order_boc: bytes,
  signers: addresses,
  ...state,
});

/** Vesting contracts (service/v3/README.md#vesting). */
export const vestingContracts = defineTable('vesting_contracts', ['address'], {
  address,
  /** Unix seconds; they may be of 64 bits, as the next three. */
  start_time: lt,
  total_duration: lt,
  unlock_period: lt,
  cliff_duration: lt,
  total_amount: amount,
  sender: address,
  owner: address,
  /** Ascending. */
  whitelist: addresses,
  ...state,
});

/**
 * Results of classification for an account after each of its transactions above `after_lt`, up to `until_lt`. These are consecutive states
 * with equal results. States between two rows of an account were not examined, or their code rules out all interfaces.
 */
export const interfaceFacts = defineTable('interface_facts', ['account', 'after_lt'], {
  account: address,
  /** Lt of the transaction before the first of them; 0 for an account's first. */
  after_lt: lt,
  until_lt: lt,
  /** `AccountFacts` of service/interfaces: bigints as decimal text, bytes as base64. */
  facts: json,
  /** Version of the interpreter: another version does not rely on the row. */
  version: small,
});

const transfer = {
  tx_hash: hash,
  tx_lt: lt,
  tx_utime: int,
  tx_aborted: bool,
  mc_seqno: int,
  query_id: amount,
};

/** Jetton transfers (service/v3/README.md#jettons, service/indexer/README.md#transfers). */
export const jettonTransfers = defineTable('jetton_transfers', ['tx_hash', 'tx_lt'], {
  ...transfer,
  source: address,
  /** Null for `addr_none` and for addresses that are no accounts. */
  destination: nullable(address),
  jetton_wallet: address,
  jetton_master: address,
  amount,
  /** Raw text, `addr_none` too. */
  response_destination: nullable(text),
  custom_payload: nullable(bytes),
  forward_ton_amount: nullable(amount),
  forward_payload: nullable(bytes),
  /** The wallet executed the operation, and the next contract refused the jettons. */
  returned: bool,
});

/** Jetton burns (service/v3/README.md#jettons, service/indexer/README.md#transfers). */
export const jettonBurns = defineTable('jetton_burns', ['tx_hash', 'tx_lt'], {
  ...transfer,
  owner: address,
  jetton_wallet: address,
  jetton_master: address,
  amount,
  response_destination: nullable(text),
  custom_payload: nullable(bytes),
  /** The wallet executed the operation, and the next contract refused the jettons. */
  returned: bool,
});

/** NFT transfers (service/v3/README.md#nfts, service/indexer/README.md#transfers). */
export const nftTransfers = defineTable('nft_transfers', ['tx_hash', 'tx_lt'], {
  ...transfer,
  nft_item: address,
  nft_index: amount,
  nft_collection: nullable(address),
  old_owner: address,
  new_owner: nullable(address),
  response_destination: nullable(text),
  custom_payload: nullable(bytes),
  forward_amount: nullable(amount),
  forward_payload: nullable(bytes),
});

/** Result of classifying a trace. A trace without a row is `unclassified`. */
export const traceClassifications = defineTable('trace_classifications', ['trace_id'], {
  trace_id: hash,
  /** 0 unchanged, 1 failed, 2 ok, 3 broken. */
  state: small,
  /** Version of the classifier. */
  version: small,
});

/** An action (service/v3/README.md#actions, service/actions/README.md#rows-of-actions). */
export const actions = defineTable('actions', ['trace_id', 'action_id'], {
  trace_id: hash,
  action_id: hash,
  type: text,
  start_lt: lt,
  end_lt: lt,
  start_utime: int,
  end_utime: int,
  trace_end_lt: lt,
  trace_end_utime: int,
  trace_mc_seqno_end: int,
  trace_external_hash: nullable(hash),
  trace_external_hash_norm: nullable(hash),
  success: bool,
  parent_action_id: nullable(hash),
  ancestor_types: texts,
  tx_hashes: hashes,
  accounts: addresses,
  /** `ActionColumns` of actions/engine/columns.ts by their names, bigints as decimal text; null and absent are the same. */
  columns: json,
});

/** Accounts of actions, in the order in which their traces ended. */
export const actionAccounts = defineTable('action_accounts', ['account', 'trace_id', 'action_id'], {
  account: address,
  trace_id: hash,
  action_id: hash,
  trace_end_lt: lt,
  trace_end_utime: int,
  end_lt: lt,
  end_utime: int,
  /** Type of the action; empty in rows of releases before this column. */
  type: text,
  /** Ancestor types of the action; null in rows of releases before this column. */
  ancestor_types: nullable(texts),
});

/** Metadata of a token, from the chain and from outside (service/metadata/README.md#token-metadata). */
export const addressMetadata = defineTable('address_metadata', ['address', 'type'], {
  address,
  /** `jetton_masters`, `nft_collections`, `nft_items`. */
  type: text,
  /** False when content outside of the chain could not be fetched. */
  valid: bool,
  name: nullable(text),
  description: nullable(text),
  symbol: nullable(text),
  image: nullable(text),
  extra: json,
  /** Unix seconds. */
  updated_at: int,
  expires_at: int,
});

export type JettonMasterRow = Row<typeof jettonMasters>;
export type JettonWalletRow = Row<typeof jettonWallets>;
export type NftCollectionRow = Row<typeof nftCollections>;
export type NftItemRow = Row<typeof nftItems>;
export type NftSaleRow = Row<typeof nftSales>;
export type DnsEntryRow = Row<typeof dnsEntries>;
export type MultisigRow = Row<typeof multisigs>;
export type MultisigOrderRow = Row<typeof multisigOrders>;
export type VestingContractRow = Row<typeof vestingContracts>;
export type InterfaceFactsRow = Row<typeof interfaceFacts>;
export type JettonTransferRow = Row<typeof jettonTransfers>;
export type JettonBurnRow = Row<typeof jettonBurns>;
export type NftTransferRow = Row<typeof nftTransfers>;
export type TraceClassificationRow = Row<typeof traceClassifications>;
export type ActionRow = Row<typeof actions>;
export type ActionAccountRow = Row<typeof actionAccounts>;
export type AddressMetadataRow = Row<typeof addressMetadata>;
