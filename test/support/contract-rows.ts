import type { Table } from '#service/store/columns.ts';
import type { Row } from '#service/store/columns.ts';
import { accountKey } from '#service/store/account-key.ts';
import { createInserts } from '#service/store/insert.ts';
import type {
  DnsEntryRow,
  MultisigOrderRow,
  MultisigRow,
  VestingContractRow,
} from '#service/store/classification-tables.ts';
import type { Store } from '#service/store/store.ts';

/** Key of a made-up account of the basechain, by a number below 2^32; those of greater numbers sort behind. */
export function keyOf(number: number): Buffer {
  const id = Buffer.alloc(32, 0xab);
  id.writeUInt32BE(number);
  return accountKey({ workchain: 0, id });
}

/** The same account as v3 shows it. */
export function rawOf(number: number): string {
  return `0:${keyOf(number).subarray(1).toString('hex').toUpperCase()}`;
}

const state = { last_trans_lt: 77n, code_hash: Buffer.alloc(32, 4), data_hash: null };

/** A name without any record, of an item without an owner. */
export function dnsEntry(row: Partial<DnsEntryRow> & Pick<DnsEntryRow, 'nft_item' | 'domain'>): DnsEntryRow {
  return {
    nft_item_owner: null,
    next_resolver: null,
    wallet: null,
    site_adnl: null,
    storage_bag_id: null,
    last_trans_lt: 77n,
    ...row,
  };
}

export function multisigRow(row: Partial<MultisigRow> & Pick<MultisigRow, 'address'>): MultisigRow {
  return { next_order_seqno: null, threshold: 1, signers: [], proposers: [], ...state, ...row };
}

export function multisigOrderRow(
  row: Partial<MultisigOrderRow> & Pick<MultisigOrderRow, 'address' | 'multisig'>,
): MultisigOrderRow {
  return {
    order_seqno: 0n,
    threshold: 1,
    sent_for_execution: false,
    approvals_mask: 0n,
    approvals_num: 0,
    expiration_date: 1_800_000_000n,
    order_boc: Buffer.from('b5ee9c72010101010002000000', 'hex'),
    signers: [],
    ...state,
    ...row,
  };
}

export function vestingRow(row: Partial<VestingContractRow> & Pick<VestingContractRow, 'address'>): VestingContractRow {
  return {
    start_time: 1_700_000_000n,
    total_duration: 1000n,
    unlock_period: 100n,
    cliff_duration: 0n,
    total_amount: 5n,
    sender: keyOf(1),
    owner: keyOf(2),
    whitelist: [],
    ...state,
    ...row,
  };
}

/** Puts rows into a table, one after another, so that their ids are in the order given. */
export async function addRows<T extends Table>(
  store: Pick<Store, 'transaction'>,
  table: T,
  rows: readonly Row<T>[],
): Promise<void> {
  await store.transaction(async (session) => {
    const inserts = createInserts(session, 'unnest');
    for (const row of rows) await inserts.add(table, [row]);
  });
}
