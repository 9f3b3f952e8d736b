import type { Migration } from './migration.ts';

/** The ledger and the state of its writers. Indexes are next to the v3 queries that use them; every index has a query. */
export const ledger: Migration = {
  version: 1,
  name: 'ledger',
  compatibleFrom: 1,
  statements: [
    `CREATE TABLE blocks (
      workchain integer NOT NULL,
      shard bigint NOT NULL,
      seqno integer NOT NULL,
      mc_seqno integer NOT NULL,
      root_hash bytea NOT NULL,
      file_hash bytea NOT NULL,
      gen_utime integer NOT NULL,
      start_lt bigint NOT NULL,
      end_lt bigint NOT NULL,
      tx_count integer NOT NULL,
      global_id integer NOT NULL,
      version integer NOT NULL,
      flags integer NOT NULL,
      vert_seqno integer NOT NULL,
      vert_seqno_incr boolean NOT NULL,
      after_merge boolean NOT NULL,
      before_split boolean NOT NULL,
      after_split boolean NOT NULL,
      want_merge boolean NOT NULL,
      want_split boolean NOT NULL,
      key_block boolean NOT NULL,
      validator_list_hash_short integer NOT NULL,
      gen_catchain_seqno integer NOT NULL,
      min_ref_mc_seqno integer NOT NULL,
      prev_key_block_seqno integer NOT NULL,
      master_ref_seqno integer NOT NULL,
      rand_seed bytea NOT NULL,
      created_by bytea NOT NULL,
      software_version integer,
      prev_shard bigint NOT NULL,
      prev_seqno integer NOT NULL,
      prev_shard_2 bigint,
      prev_seqno_2 integer,
      PRIMARY KEY (workchain, shard, seqno)
    )`,
    // Blocks that a masterchain block includes, and time as a window of masterchain blocks.
    'CREATE INDEX blocks_by_mc_seqno ON blocks (mc_seqno)',
    'CREATE INDEX blocks_by_gen_utime ON blocks (gen_utime, workchain, shard, seqno)',
    'CREATE INDEX blocks_by_start_lt ON blocks (start_lt)',
    // A shard may have been split long ago; few blocks share a seqno.
    'CREATE INDEX blocks_by_shard ON blocks (shard, gen_utime)',
    'CREATE INDEX blocks_by_seqno ON blocks (seqno)',
    'CREATE INDEX blocks_by_root_hash ON blocks (root_hash)',
    'CREATE INDEX blocks_by_file_hash ON blocks (file_hash)',
    `CREATE TABLE shard_tops (
      mc_seqno integer NOT NULL,
      workchain integer NOT NULL,
      shard bigint NOT NULL,
      seqno integer NOT NULL,
      PRIMARY KEY (mc_seqno, workchain, shard)
    )`,

    `CREATE TABLE transactions (
      hash bytea NOT NULL,
      lt bigint NOT NULL,
      account bytea NOT NULL,
      utime integer NOT NULL,
      mc_seqno integer NOT NULL,
      workchain integer NOT NULL,
      shard bigint NOT NULL,
      seqno integer NOT NULL,
      trace_id bytea NOT NULL,
      in_msg_hash bytea,
      in_opcode integer,
      in_body_hash bytea,
      boc bytea NOT NULL,
      PRIMARY KEY (hash, lt)
    ) PARTITION BY RANGE (lt)`,
    // Compression gains nothing on hashes and signatures.
    'ALTER TABLE transactions ALTER COLUMN boc SET STORAGE EXTERNAL',
    // Newest first, and any window of lt. Transactions of a block, a shard or a masterchain block are a window of lt too.
    'CREATE INDEX transactions_by_lt ON transactions (lt, account)',
    'CREATE INDEX transactions_by_account ON transactions (account, lt)',
    // Windows of time: the second first, then lt.
    'CREATE INDEX transactions_by_utime ON transactions (utime, lt)',
    'CREATE INDEX transactions_by_mc_seqno ON transactions (mc_seqno)',
    // The masterchain's are few among many.
    'CREATE INDEX transactions_of_masterchain ON transactions (lt) WHERE workchain = -1',
    'CREATE INDEX transactions_by_trace ON transactions (trace_id, lt)',
    // Consumer of a message.
    'CREATE INDEX transactions_by_in_msg ON transactions (in_msg_hash)',
    // Consumers of messages of a kind.
    'CREATE INDEX transactions_by_in_opcode ON transactions (in_opcode, lt)',
    'CREATE INDEX transactions_by_in_body ON transactions (in_body_hash, lt)',

    `CREATE TABLE messages (
      hash bytea NOT NULL,
      lt bigint NOT NULL,
      hash_norm bytea,
      kind smallint NOT NULL,
      source bytea,
      destination bytea,
      created_lt bigint,
      created_at integer,
      opcode integer,
      body_hash bytea NOT NULL,
      PRIMARY KEY (hash, lt)
    ) PARTITION BY RANGE (lt)`,
    'CREATE INDEX messages_by_hash_norm ON messages (hash_norm) WHERE hash_norm IS NOT NULL',
    'CREATE INDEX messages_by_source ON messages (source, created_lt)',
    'CREATE INDEX messages_by_destination ON messages (destination, created_lt)',
    'CREATE INDEX messages_by_opcode ON messages (opcode, created_lt)',
    'CREATE INDEX messages_by_body_hash ON messages (body_hash, created_lt)',
    'CREATE INDEX messages_by_created_lt ON messages (created_lt, hash)',
    'CREATE INDEX messages_by_created_at ON messages (created_at, hash)',

    `CREATE TABLE account_states (
      hash bytea NOT NULL,
      balance numeric NOT NULL,
      extra_currencies jsonb,
      status smallint NOT NULL,
      frozen_hash bytea,
      data_hash bytea,
      code_hash bytea,
      PRIMARY KEY (hash)
    )`,
    `CREATE TABLE latest_account_states (
      account bytea NOT NULL,
      hash bytea NOT NULL,
      balance numeric NOT NULL,
      extra_currencies jsonb,
      status smallint NOT NULL,
      utime integer NOT NULL,
      last_trans_hash bytea NOT NULL,
      last_trans_lt bigint NOT NULL,
      frozen_hash bytea,
      data_hash bytea,
      code_hash bytea,
      data_boc bytea,
      data_boc_hash bytea,
      data_boc_lt bigint,
      PRIMARY KEY (account)
    )`,
    'ALTER TABLE latest_account_states ALTER COLUMN data_boc SET STORAGE EXTERNAL',
    'CREATE INDEX latest_account_states_by_balance ON latest_account_states (balance DESC, account)',
    `CREATE TABLE codes (
      code_hash bytea NOT NULL,
      boc bytea NOT NULL,
      methods integer[],
      PRIMARY KEY (code_hash)
    )`,

    `CREATE TABLE traces (
      trace_id bytea NOT NULL,
      external_hash bytea,
      external_hash_norm bytea,
      mc_seqno_start integer NOT NULL,
      mc_seqno_end integer NOT NULL,
      start_lt bigint NOT NULL,
      start_utime integer NOT NULL,
      end_lt bigint NOT NULL,
      end_utime integer NOT NULL,
      state smallint NOT NULL,
      pending_edges integer NOT NULL,
      edges integer NOT NULL,
      nodes integer NOT NULL,
      PRIMARY KEY (trace_id)
    )`,
    'CREATE INDEX traces_by_end_lt ON traces (end_lt, trace_id)',
    'CREATE INDEX traces_by_end_utime ON traces (end_utime, trace_id)',
    'CREATE INDEX traces_by_mc_seqno_end ON traces (mc_seqno_end)',
    `CREATE TABLE trace_accounts (
      account bytea NOT NULL,
      trace_id bytea NOT NULL,
      end_lt bigint NOT NULL,
      end_utime integer NOT NULL,
      PRIMARY KEY (account, trace_id)
    )`,
    'CREATE INDEX trace_accounts_by_end_lt ON trace_accounts (account, end_lt, trace_id)',
    'CREATE INDEX trace_accounts_by_end_utime ON trace_accounts (account, end_utime, trace_id)',
    'CREATE INDEX trace_accounts_by_trace ON trace_accounts (trace_id)',
    `CREATE TABLE open_edges (
      msg_hash bytea NOT NULL,
      trace_id bytea NOT NULL,
      produced boolean NOT NULL,
      PRIMARY KEY (msg_hash)
    )`,
    'CREATE INDEX open_edges_by_trace ON open_edges (trace_id)',

    `CREATE TABLE indexer_state (
      id boolean PRIMARY KEY DEFAULT true CHECK (id),
      network_root_hash bytea NOT NULL,
      network_file_hash bytea NOT NULL,
      start_seqno integer NOT NULL,
      head_seqno integer,
      head_epoch bigint NOT NULL DEFAULT 0,
      head_holder text
    )`,
    `CREATE TABLE backfill_ranges (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      from_seqno integer NOT NULL,
      to_seqno integer NOT NULL CHECK (to_seqno >= from_seqno),
      done_until integer NOT NULL,
      claim bigint NOT NULL DEFAULT 0,
      claimed_by text,
      claimed_until timestamptz
    )`,
    'CREATE INDEX backfill_ranges_to_do ON backfill_ranges (from_seqno DESC) WHERE done_until < to_seqno',
  ],
};
