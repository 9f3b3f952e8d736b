/** Objects of v3 as the explorer reads them. Integers beyond 2^53 are decimal texts. */

export type AddressBook = Readonly<
  Record<
    string,
    {
      readonly user_friendly: string | null;
      readonly domain: string | null;
      readonly interfaces?: readonly string[] | null;
    }
  >
>;

export type TokenInfo = {
  readonly type?: string;
  readonly name?: string;
  readonly symbol?: string;
  readonly description?: string;
  readonly image?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
};

export type Metadata = Readonly<
  Record<string, { readonly is_indexed: boolean; readonly token_info?: readonly TokenInfo[] }>
>;

/** Parts that most answers of v3 share. */
export type Labels = { readonly address_book?: AddressBook; readonly metadata?: Metadata };

export type MessageContent = { readonly hash: string; readonly body: string; readonly decoded: unknown };

export type Message = {
  readonly hash: string;
  readonly source: string | null;
  readonly destination: string | null;
  readonly value: string | null;
  readonly fwd_fee: string | null;
  readonly ihr_fee: string | null;
  readonly created_lt: string | null;
  readonly created_at: string | null;
  readonly opcode: string | null;
  readonly decoded_opcode?: string | null;
  readonly bounce: boolean | null;
  readonly bounced: boolean | null;
  readonly message_content: MessageContent | null;
  readonly init_state: MessageContent | null;
  readonly value_extra_currencies?: Readonly<Record<string, string>>;
};

export type AccountStateBrief = {
  readonly hash: string;
  readonly balance: string | null;
  readonly account_status: string | null;
  readonly data_hash: string | null;
  readonly code_hash: string | null;
  readonly extra_currencies?: Readonly<Record<string, string>>;
};

export type TransactionDescription = {
  readonly type: string;
  readonly aborted?: boolean;
  readonly destroyed?: boolean;
  readonly credit_first?: boolean;
  readonly storage_ph?: Readonly<Record<string, unknown>>;
  readonly credit_ph?: Readonly<Record<string, unknown>>;
  readonly compute_ph?: {
    readonly skipped: boolean;
    readonly reason?: string;
    readonly success?: boolean;
    readonly exit_code?: number;
    readonly vm_steps?: number;
    readonly gas_used?: string;
    readonly gas_limit?: string;
    readonly gas_fees?: string;
    readonly [name: string]: unknown;
  };
  readonly action?: { readonly success: boolean; readonly result_code: number; readonly [name: string]: unknown };
  readonly bounce?: Readonly<Record<string, unknown>>;
};

export type BlockRef = { readonly workchain: number; readonly shard: string; readonly seqno: number };

export type Transaction = {
  readonly account: string;
  readonly hash: string;
  readonly lt: string;
  readonly now: number;
  readonly mc_block_seqno: number;
  readonly trace_id: string | null;
  readonly trace_external_hash?: string | null;
  readonly prev_trans_hash: string;
  readonly prev_trans_lt: string;
  readonly orig_status: string;
  readonly end_status: string;
  readonly total_fees: string;
  readonly description: TransactionDescription;
  readonly block_ref: BlockRef;
  readonly in_msg: Message | null;
  readonly out_msgs: readonly Message[];
  readonly account_state_before: AccountStateBrief | null;
  readonly account_state_after: AccountStateBrief | null;
  readonly emulated?: boolean;
  /** `pending`, `confirmed` or `finalized`. */
  readonly finality?: string;
};

/** An action. Its details differ by `type`. */
export type Action = {
  readonly action_id: string;
  readonly type: string;
  readonly success: boolean | null;
  readonly start_utime: number;
  readonly end_utime: number;
  readonly trace_id: string | null;
  readonly trace_external_hash?: string | null;
  readonly transactions: readonly string[];
  readonly accounts?: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  /** `pending`, `confirmed` or `finalized`. */
  readonly finality?: string;
};

export type TraceNode = {
  readonly tx_hash: string | null;
  readonly in_msg_hash?: string | null;
  readonly children?: readonly TraceNode[];
};

export type Trace = {
  readonly trace_id: string;
  readonly external_hash: string | null;
  readonly mc_seqno_start: string;
  readonly mc_seqno_end: string;
  readonly start_utime: number;
  readonly end_utime: number;
  /** In the index: the trace is too large, so the answer has no transactions. In a simulation: its end is left out. */
  readonly is_incomplete: boolean;
  readonly trace_info: {
    /** `pending`: messages are on their way. `broken`: the message of its first transaction has no known sender. */
    readonly trace_state: 'complete' | 'pending' | 'broken';
    readonly transactions: number;
  };
  readonly trace?: TraceNode | null | undefined;
  readonly transactions_order?: readonly string[];
  readonly transactions?: Readonly<Record<string, Transaction>>;
  readonly actions?: readonly Action[];
};

/** A trace that no block has all of. It has no id: each simulation has another first transaction. */
export type SimulatedTrace = Omit<Trace, 'trace_id'> & { readonly trace_id: null };

export type Block = BlockRef & {
  readonly root_hash: string;
  readonly file_hash: string;
  readonly gen_utime: string;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly tx_count: number | null;
  readonly prev_blocks?: readonly BlockRef[];
  readonly [name: string]: unknown;
};
