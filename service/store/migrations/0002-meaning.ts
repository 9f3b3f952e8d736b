import {
  actionAccounts,
  actions,
  addressMetadata,
  dnsEntries,
  interfaceFacts,
  jettonBurns,
  jettonMasters,
  jettonTransfers,
  jettonWallets,
  multisigOrders,
  multisigs,
  nftCollections,
  nftItems,
  nftSales,
  nftTransfers,
  traceClassifications,
  vestingContracts,
} from '../meaning-tables.ts';
import type { Table } from '../columns.ts';
import { createTable } from './create-table.ts';
import type { Migration } from './migration.ts';

/** In the order in which rows were first made: lists without another order have this one. */
const id = ['id bigint GENERATED ALWAYS AS IDENTITY UNIQUE'];

/**
 * Most accounts have a handful of rows and a few have millions. Plans are made for those: a page is cut from an index in its order, instead of all
 * rows of an account being sorted because there should be few. Takes effect when statistics are gathered.
 */
function hasBusyKeys({ name }: Table, columns: readonly string[]): string {
  return `ALTER TABLE ${name} ${columns.map((column) => `ALTER COLUMN ${column} SET (n_distinct = 100)`).join(', ')}`;
}

/** Contracts, transfers, actions, and the work that makes them. Indexes stand with the queries of v3 that ride them. */
export const meaning: Migration = {
  version: 2,
  name: 'meaning',
  compatibleFrom: 2,
  statements: [
    createTable(jettonMasters, id),
    'CREATE INDEX jetton_masters_by_admin ON jetton_masters (admin, id)',
    createTable(jettonWallets, id),
    hasBusyKeys(jettonWallets, ['owner', 'jetton']),
    'CREATE INDEX jetton_wallets_by_owner ON jetton_wallets (owner, id)',
    'CREATE INDEX jetton_wallets_by_owner_jetton ON jetton_wallets (owner, jetton)',
    'CREATE INDEX jetton_wallets_by_jetton ON jetton_wallets (jetton, id)',
    'CREATE INDEX jetton_wallets_by_owner_balance ON jetton_wallets (owner, balance, id)',
    'CREATE INDEX jetton_wallets_by_jetton_balance ON jetton_wallets (jetton, balance, id)',
    'CREATE INDEX jetton_wallets_by_balance ON jetton_wallets (balance, id)',
    createTable(nftCollections, id),
    'CREATE INDEX nft_collections_by_owner ON nft_collections (owner, id)',
    createTable(nftItems, id),
    hasBusyKeys(nftItems, ['owner', 'collection']),
    'CREATE INDEX nft_items_by_collection ON nft_items (collection, index)',
    'CREATE INDEX nft_items_by_owner ON nft_items (owner, collection, index)',
    'CREATE INDEX nft_items_by_lt ON nft_items (last_trans_lt)',
    'CREATE INDEX nft_items_by_owner_lt ON nft_items (owner, last_trans_lt)',
    'CREATE INDEX nft_items_by_collection_lt ON nft_items (collection, last_trans_lt)',
    createTable(nftSales, id),
    'CREATE INDEX nft_sales_by_nft_owner ON nft_sales (nft_owner)',
    createTable(dnsEntries),
    'CREATE INDEX dns_entries_by_domain ON dns_entries (domain)',
    'CREATE INDEX dns_entries_by_wallet ON dns_entries (wallet, length(domain), domain COLLATE "C", nft_item)',
    `CREATE INDEX dns_entries_of_themselves ON dns_entries (nft_item_owner, length(domain), domain COLLATE "C", nft_item)
     WHERE nft_item_owner IS NOT DISTINCT FROM wallet`,
    createTable(multisigs, id),
    // Written rarely: a list of what is not sorted in yet would cost every search more than it saves.
    'CREATE INDEX multisigs_by_signer ON multisigs USING gin (signers) WITH (fastupdate = off)',
    'CREATE INDEX multisigs_by_proposer ON multisigs USING gin (proposers) WITH (fastupdate = off)',
    createTable(multisigOrders, id),
    'CREATE INDEX multisig_orders_by_multisig ON multisig_orders (multisig, id)',
    createTable(vestingContracts, id),
    'CREATE INDEX vesting_contracts_by_sender ON vesting_contracts (sender, id)',
    'CREATE INDEX vesting_contracts_by_owner ON vesting_contracts (owner, id)',
    'CREATE INDEX vesting_contracts_by_whitelisted ON vesting_contracts USING gin (whitelist) WITH (fastupdate = off)',
    createTable(interfaceFacts),

    createTable(jettonTransfers),
    hasBusyKeys(jettonTransfers, ['source', 'destination', 'jetton_wallet', 'jetton_master']),
    'CREATE INDEX jetton_transfers_by_lt ON jetton_transfers (tx_lt, tx_hash)',
    'CREATE INDEX jetton_transfers_by_utime ON jetton_transfers (tx_utime, tx_lt, tx_hash)',
    'CREATE INDEX jetton_transfers_by_source ON jetton_transfers (source, tx_lt, tx_hash)',
    'CREATE INDEX jetton_transfers_by_source_utime ON jetton_transfers (source, tx_utime, tx_lt, tx_hash)',
    'CREATE INDEX jetton_transfers_by_destination ON jetton_transfers (destination, tx_lt, tx_hash)',
    'CREATE INDEX jetton_transfers_by_destination_utime ON jetton_transfers (destination, tx_utime, tx_lt, tx_hash)',
    'CREATE INDEX jetton_transfers_by_wallet ON jetton_transfers (jetton_wallet, tx_lt, tx_hash)',
    'CREATE INDEX jetton_transfers_by_master ON jetton_transfers (jetton_master, tx_lt, tx_hash)',
    'CREATE INDEX jetton_transfers_by_master_utime ON jetton_transfers (jetton_master, tx_utime, tx_lt, tx_hash)',
    createTable(jettonBurns),
    hasBusyKeys(jettonBurns, ['owner', 'jetton_wallet', 'jetton_master']),
    'CREATE INDEX jetton_burns_by_lt ON jetton_burns (tx_lt, tx_hash)',
    'CREATE INDEX jetton_burns_by_utime ON jetton_burns (tx_utime, tx_lt, tx_hash)',
    'CREATE INDEX jetton_burns_by_owner ON jetton_burns (owner, tx_lt, tx_hash)',
    'CREATE INDEX jetton_burns_by_owner_utime ON jetton_burns (owner, tx_utime, tx_lt, tx_hash)',
    'CREATE INDEX jetton_burns_by_wallet ON jetton_burns (jetton_wallet, tx_lt, tx_hash)',
    'CREATE INDEX jetton_burns_by_master ON jetton_burns (jetton_master, tx_lt, tx_hash)',
    'CREATE INDEX jetton_burns_by_master_utime ON jetton_burns (jetton_master, tx_utime, tx_lt, tx_hash)',
    createTable(nftTransfers),
    hasBusyKeys(nftTransfers, ['nft_item', 'nft_collection', 'old_owner', 'new_owner']),
    'CREATE INDEX nft_transfers_by_lt ON nft_transfers (tx_lt, tx_hash)',
    'CREATE INDEX nft_transfers_by_utime ON nft_transfers (tx_utime, tx_lt, tx_hash)',
    'CREATE INDEX nft_transfers_by_item ON nft_transfers (nft_item, tx_lt, tx_hash)',
    'CREATE INDEX nft_transfers_by_collection ON nft_transfers (nft_collection, tx_lt, tx_hash)',
    'CREATE INDEX nft_transfers_by_collection_utime ON nft_transfers (nft_collection, tx_utime, tx_lt, tx_hash)',
    'CREATE INDEX nft_transfers_by_old_owner ON nft_transfers (old_owner, tx_lt, tx_hash)',
    'CREATE INDEX nft_transfers_by_old_owner_utime ON nft_transfers (old_owner, tx_utime, tx_lt, tx_hash)',
    'CREATE INDEX nft_transfers_by_new_owner ON nft_transfers (new_owner, tx_lt, tx_hash)',
    'CREATE INDEX nft_transfers_by_new_owner_utime ON nft_transfers (new_owner, tx_utime, tx_lt, tx_hash)',

    createTable(traceClassifications),
    createTable(actions),
    'CREATE INDEX actions_by_id ON actions (action_id)',
    'CREATE INDEX actions_by_end_lt ON actions (trace_end_lt, trace_id, end_lt, action_id)',
    'CREATE INDEX actions_by_end_utime ON actions (trace_end_utime, trace_id, end_utime, action_id)',
    'CREATE INDEX actions_by_mc_seqno ON actions (trace_mc_seqno_end)',
    'CREATE INDEX actions_by_type ON actions (type, trace_end_lt)',
    createTable(actionAccounts),
    'CREATE INDEX action_accounts_by_end_lt ON action_accounts (account, trace_end_lt, trace_id, end_lt, action_id)',
    'CREATE INDEX action_accounts_by_end_utime ON action_accounts (account, trace_end_utime, trace_id, end_utime, action_id)',
    'CREATE INDEX action_accounts_by_trace ON action_accounts (trace_id)',

    // A masterchain block whose contracts and traces are to be told: `todo` until that is done by the version of the classifier that asked for it.
    `CREATE TABLE interpretations (
      mc_seqno integer PRIMARY KEY,
      version smallint NOT NULL DEFAULT 0,
      todo boolean NOT NULL DEFAULT true,
      claim bigint NOT NULL DEFAULT 0,
      claimed_until timestamptz
    )`,
    // Of an index that was begun before.
    'INSERT INTO interpretations (mc_seqno) SELECT seqno FROM blocks WHERE workchain = -1',
    'CREATE INDEX interpretations_to_do ON interpretations (mc_seqno DESC) WHERE todo',
    // What an older version of the classifier did is done again, newest first.
    'CREATE INDEX interpretations_done ON interpretations (version, mc_seqno DESC) WHERE NOT todo',

    createTable(addressMetadata),
    // A token of which something outside of the chain is to be fetched. A claim moves `due_at` on: one that nobody ends falls due again.
    `CREATE TABLE metadata_tasks (
      address bytea NOT NULL,
      type text NOT NULL,
      attempts smallint NOT NULL DEFAULT 0,
      due_at timestamptz NOT NULL DEFAULT now(),
      claim bigint NOT NULL DEFAULT 0,
      host text,
      PRIMARY KEY (address, type)
    )`,
    'CREATE INDEX metadata_tasks_by_time ON metadata_tasks (due_at)',
  ],
};
