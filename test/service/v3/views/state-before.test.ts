import { beforeAll, describe, expect, it } from 'vitest';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction, type Transaction } from '#service/decode/tlb/transaction.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import type { AccountStateRow } from '#service/store/tables.ts';
import { withStateBefore } from '#service/v3/views/state-before.ts';
import type { StatesByHash } from '#service/v3/views/transaction-views.ts';
import { recordedRows, statesIn } from '#test/support/recorded-index.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

type Recorded = { readonly row: FoundTransaction; readonly read: Transaction };

let all: readonly Recorded[];
let states: ReadonlyMap<string, AccountStateRow>;

beforeAll(async () => {
  const recorded = await recordedRows();
  states = statesIn(recorded);
  all = recorded
    .flatMap(({ transactions, blocks }) =>
      transactions.map((row) => {
        const block = blocks.find(
          ({ workchain, shard, seqno }) => workchain === row.workchain && shard === row.shard && seqno === row.seqno,
        );
        return { ...row, trace_id: row.hash, global_version: block!.global_version } as unknown as FoundTransaction;
      }),
    )
    .map((row) => {
      const table = parseBoc(row.boc);
      return { row, read: readTransaction(table, table.roots[0]!) };
    });
});

/** As the index has it that begins with this transaction. */
const onlyAfter = ({ stateUpdate }: Transaction): StatesByHash =>
  new Map([text(stateUpdate.newHash)].map((hash) => [hash, states.get(hash)!]));

describe("the state before an account's first indexed transaction", () => {
  it('has the balance and the status that the account had, whatever the transaction did', () => {
    const some = all.filter(({ row, read }) => row.workchain !== MASTERCHAIN && read.originalStatus !== 'nonexist');
    expect(some.length).toBeGreaterThan(1000);
    const told = some.map(({ row, read }) =>
      withStateBefore(row, read, onlyAfter(read)).get(text(read.stateUpdate.oldHash)),
    );
    const expected = some.map(({ read }) => states.get(text(read.stateUpdate.oldHash)));
    expect(told.map((state) => state?.balance)).toEqual(expected.map((state) => state?.balance));
    expect(told.map((state) => state?.status)).toEqual(expected.map((state) => state?.status));
  });

  it('is as it is indexed where it is, and unknown where the state after is, or where coins may have been burnt', () => {
    const nothing: StatesByHash = new Map();
    for (const { row, read } of all.slice(0, 300)) {
      expect(withStateBefore(row, read, states)).toBe(states);
      expect(withStateBefore(row, read, nothing)).toBe(nothing);
    }
    for (const { row, read } of all.filter((one) => one.row.workchain === MASTERCHAIN)) {
      const after = onlyAfter(read);
      expect(withStateBefore(row, read, after)).toBe(after);
    }
  });
});
