import { createHash } from 'node:crypto';

import type { BlockRows } from '#service/store/tables.ts';

/** Above all lts of a recording. */
const ltsOfPass = 2_000_000_000n;

/** Passes after which accounts are others too: each has some history by then. */
const passesOfAccounts = 8;

/** Biased workchain of the masterchain's accounts: those of the system, which every block touches. */
const masterchainByte = 127;

/** The rows of a recorded block as those of another pass: other hashes, lts and, now and then, other accounts; what refers to what stays. */
export function renumberRows(rows: BlockRows, pass: number): BlockRows {
  const mask = createHash('sha256').update(`hashes ${pass}`).digest();
  const accountMask = createHash('sha256')
    .update(`accounts ${Math.floor(pass / passesOfAccounts)}`)
    .digest();
  const lts = BigInt(pass) * ltsOfPass;
  const hash = (value: Uint8Array): Buffer => masked(value, mask, 0);
  const orNull = (value: Uint8Array | null): Buffer | null => (value === null ? null : hash(value));
  const account = (value: Uint8Array): Uint8Array =>
    value[0] === masterchainByte ? value : masked(value, accountMask, 1);
  const accountOrNull = (value: Uint8Array | null): Uint8Array | null => (value === null ? null : account(value));
  return {
    ...rows,
    blocks: rows.blocks.map((row) => ({
      ...row,
      root_hash: hash(row.root_hash),
      file_hash: hash(row.file_hash),
      start_lt: row.start_lt + lts,
      end_lt: row.end_lt + lts,
    })),
    transactions: rows.transactions.map((row) => ({
      ...row,
      hash: hash(row.hash),
      lt: row.lt + lts,
      account: account(row.account),
      in_msg_hash: orNull(row.in_msg_hash),
    })),
    links: rows.links.map((row) => ({
      ...row,
      externalHashNorm: orNull(row.externalHashNorm),
      sent: row.sent.map(hash),
    })),
    messages: rows.messages.map((row) => ({
      ...row,
      hash: hash(row.hash),
      hash_norm: orNull(row.hash_norm),
      lt: row.lt + lts,
      created_lt: row.created_lt === null ? null : row.created_lt + lts,
      source: accountOrNull(row.source),
      destination: accountOrNull(row.destination),
    })),
    accountStates: rows.accountStates.map((row) => ({ ...row, hash: hash(row.hash) })),
    latestAccountStates: rows.latestAccountStates.map((row) => ({
      ...row,
      account: account(row.account),
      hash: hash(row.hash),
      last_trans_hash: hash(row.last_trans_hash),
      last_trans_lt: row.last_trans_lt + lts,
      data_boc_lt: row.data_boc_lt === null ? null : row.data_boc_lt + lts,
    })),
  };
}

function masked(value: Uint8Array, mask: Uint8Array, from: number): Buffer {
  const result = Buffer.allocUnsafe(value.length);
  for (let index = 0; index < value.length; index++) {
    result[index] = index < from ? (value[index] ?? 0) : (value[index] ?? 0) ^ (mask[index - from] ?? 0);
  }
  return result;
}
