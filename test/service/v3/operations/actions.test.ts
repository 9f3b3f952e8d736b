import { describe, expect, it } from 'vitest';

import { RawJson } from '#service/contract/json-stream.ts';
import type { ActionRow } from '#service/store/classification-tables.ts';
import { actionOperations } from '#service/v3/operations/actions.ts';

const txHash = Buffer.alloc(32, 7);

/** One of many transfers of a wallet: each shows the transaction of the wallet. */
function transferOf(at: number): ActionRow {
  const id = Buffer.alloc(32);
  id.writeUInt32BE(at);
  return {
    trace_id: txHash,
    action_id: id,
    type: 'ton_transfer',
    start_lt: 1n,
    end_lt: 2n,
    start_utime: 1,
    end_utime: 1,
    trace_end_lt: 2n,
    trace_end_utime: 1,
    trace_mc_seqno_end: 1,
    trace_external_hash: null,
    trace_external_hash_norm: null,
    success: true,
    parent_action_id: null,
    ancestor_types: [],
    tx_hashes: [txHash],
    accounts: [],
    columns: { value: '1' },
  };
}

/** Asks for some actions of a wallet whose one transaction has a mebibyte of JSON. */
function ask(actions: number, given: Readonly<Record<string, string>>): Promise<unknown> {
  const written = [{ hash: txHash.toString('base64'), json: new RawJson(['{}', Buffer.alloc(1024 * 1024 - 2, ' ')]) }];
  const writer = { open: async () => ({ accounts: [], write: async () => written }) };
  const notes = { notesOf: async () => ({ address_book: {}, metadata: {} }) };
  const rows = Array.from({ length: actions }, (_none, at) => transferOf(at));
  const [operation] = actionOperations({ writer, notes, network: { testOnly: true } } as never);
  const search = new URLSearchParams({ limit: '1000', ...given });
  return operation!.run(
    {
      kind: 'query',
      names: [...search.keys()],
      get: (name) => search.get(name) ?? undefined,
      getAll: (name) => search.getAll(name),
    },
    {
      store: { read: async (sql: string) => (sql.includes('FROM actions') ? rows : []) },
      rowSlots: { run: (_signal: AbortSignal, work: () => Promise<unknown>) => work() },
      settings: {},
      onNextPage: () => undefined,
      signal: new AbortController().signal,
    } as never,
  );
}

describe('actions with their transactions', () => {
  const withTransactions = { include_transactions: 'true' };

  it('are refused when the copies of one transaction are too large together', async () => {
    await expect(ask(65, withTransactions)).rejects.toMatchObject({
      code: 'answer_too_large',
      message:
        'the transactions of these actions are larger than 64 MiB: lower limit, or leave out include_transactions',
    });
  });

  it('are shown at the bound, and beyond it without their transactions', async () => {
    expect(await ask(64, withTransactions)).toMatchObject({ value: { actions: { length: 64 } } });
    expect(await ask(65, {})).toMatchObject({ value: { actions: { length: 65 } } });
  });
});
