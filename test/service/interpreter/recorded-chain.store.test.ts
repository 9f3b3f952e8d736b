import { Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { labelOf, labelOfKey, classifiedActions } from './classified-actions.ts';
import type { JettonBurnRow, JettonTransferRow, NftTransferRow } from '#service/store/classification-tables.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';

// Events of the recording's driver, as actions and rows.

let made: StoreUnderTest;

beforeAll(async () => {
  made = await createClassifiedIndex(import.meta.filename);
}, 360_000);

afterAll(() => made.close());

const nameIndex = 'nft_item_index=107183736216563341973326140884900079723089348710371244599967653695179548426356';

const families: readonly (readonly [what: string, types: readonly string[], lines: readonly string[]])[] = [
  [
    'jettons',
    ['jetton_mint', 'jetton_transfer', 'jetton_burn'],
    [
      'jetton_mint - > w3 jetton_wallet_w3 1000000000000',
      'jetton_mint - > w6 jetton_wallet_w6 777000000000',
      'jetton_mint - > w7 jetton_wallet_w7 42000000000',
      'jetton_mint - > w4 jetton_wallet_w4 500000000000',
      'jetton_transfer w3 > w8 jetton_wallet_w8 100500000000 query_id=11 comment=jetton for w8',
      'jetton_transfer w4 > w0 jetton_wallet_w0 5000000000 query_id=12',
      'jetton_transfer w6 > w3 jetton_wallet_w3 7000000000 query_id=13',
      'jetton_transfer w6 > w4 jetton_wallet_w4 8000000000 query_id=14 comment=two in one',
      'jetton_burn w3 > - 50000000000',
      'jetton_transfer w3 > w5 0:3BFAEB 1000000 query_id=100',
      'jetton_transfer w4 > w6 jetton_wallet_w6 2000000 query_id=101 comment=j1',
      'jetton_transfer w3 > w7 jetton_wallet_w7 3000000 query_id=102',
      'jetton_transfer w4 > w8 jetton_wallet_w8 4000000 query_id=103 comment=j3',
      'jetton_transfer w3 > w9 0:20A586 5000000 query_id=104',
      'jetton_transfer w4 > w10 0:25C167 6000000 query_id=105 comment=j5',
      'jetton_transfer w4 > w0 jetton_wallet_w0 8000000 query_id=107 comment=j7',
      'jetton_transfer w3 > w11 0:738655 7000000 query_id=106',
      'jetton_transfer w4 > w2 0:F70B45 10000000 query_id=109 comment=j9',
      'jetton_transfer w3 > w1 0:4F4902 9000000 query_id=108',
      'jetton_transfer w4 > w4 jetton_wallet_w4 12000000 query_id=111 comment=j11',
      'jetton_transfer w3 > w3 jetton_wallet_w3 11000000 query_id=110',
      'jetton_mint - > w7 stable_wallet_w7 1000000000',
      'jetton_mint - > w1 stable_wallet_w1 5000000',
      'jetton_transfer w7 > w2 stable_wallet_w2 123456 query_id=21 comment=stable payment',
      'jetton_burn w1 > - 1000000',
      'jetton_transfer w4 > w10 0:25C167 3000000000 query_id=201 comment=after v15',
      'jetton_transfer w7 > w3 0:3510F8 777 query_id=202',
    ],
  ],
  [
    'items',
    ['nft_mint', 'nft_transfer', 'nft_discovery'],
    [
      'nft_mint nft_collection > nft_0 nft_item_index=0',
      'nft_mint nft_collection > nft_2 nft_item_index=2',
      'nft_mint nft_collection > nft_1 nft_item_index=1',
      'nft_mint nft_collection > 0:A0D0C7 nft_item_index=6',
      'nft_mint nft_collection > 0:0FDF99 nft_item_index=8',
      'nft_mint nft_collection > 0:17DFD8 nft_item_index=10',
      'nft_mint nft_collection > 0:2B72AB nft_item_index=4',
      'nft_mint nft_collection > nft_5 nft_item_index=5',
      'nft_mint nft_collection > 0:5BB98D nft_item_index=7',
      'nft_mint nft_collection > 0:5C232B nft_item_index=3',
      'nft_mint nft_collection > 0:714156 nft_item_index=9',
      'nft_transfer w1 > w8 query_id=52 nft_item_index=1',
      'nft_transfer w7 > w7 query_id=53 nft_item_index=2 failed',
      'nft_transfer w5 > w6 query_id=51 nft_item_index=0',
      'nft_discovery w7 > - nft_item_index=2',
      `nft_mint dns_collection > dns_item ${nameIndex}`,
    ],
  ],
  [
    'a name that is sold and used',
    ['auction_bid', 'auction_outbid', 'change_dns', 'dns_purchase'],
    [
      `auction_bid w4 > dns_item ${nameIndex}`,
      'auction_outbid dns_item > w8 11999611530',
      'change_dns w4 > dns_item value_schema=DNSAdnlAddress',
      'change_dns w4 > dns_item value_schema=DNSSmcAddress',
      `dns_purchase - > w4 query_id=81 ${nameIndex}`,
    ],
  ],
  [
    'orders of a multisig',
    ['multisig_create_order', 'multisig_approve', 'multisig_execute'],
    [
      'multisig_create_order w1 > multisig ms_order_0 query_id=60 order_seqno=0',
      'multisig_approve w4 > ms_order_0 signer_index=1',
      'multisig_execute ms_order_0 > multisig query_id=61 order_seqno=0',
      'multisig_create_order w2 > multisig ms_order_1 query_id=60 order_seqno=1',
      'multisig_approve w8 > ms_order_1 signer_index=2',
    ],
  ],
  [
    'a vesting contract',
    ['vesting_add_whitelist', 'vesting_send_message'],
    ['vesting_add_whitelist w10 > vesting query_id=70', 'vesting_send_message w11 > vesting w10 200000000 query_id=71'],
  ],
  [
    'the elector that takes nothing',
    ['election_deposit', 'election_recover'],
    ['election_deposit mc > - 100000000000 failed', 'election_recover mc > - failed'],
  ],
];

describe('the recorded chain', () => {
  it.each(families)('has the actions of %s', async (_what, types, lines) => {
    expect(await classifiedActions(made.store, types)).toEqual(lines);
  });

  it('has every complete trace classified without a failure', async () => {
    const [counts] = await made.store.read(
      `SELECT count(*) AS traces, count(c.trace_id) AS classified, count(*) FILTER (WHERE c.state = 2) AS ok
       FROM traces t LEFT JOIN trace_classifications c USING (trace_id) WHERE t.state = 0`,
    );
    expect(counts).toEqual({ traces: 5283n, classified: 5283n, ok: 5283n });
  });

  it('has a row for each jetton transfer that a wallet was asked for, also those that it refused', async () => {
    const rows = await made.store.read<JettonTransferRow>('SELECT * FROM jetton_transfers ORDER BY tx_lt, tx_hash');
    const lines = rows.map(
      (row) =>
        `${row.query_id} ${labelOfKey(row.source)} > ${labelOfKey(row.destination)} by ${labelOfKey(row.jetton_wallet)} ${row.amount} of ${labelOfKey(row.jetton_master)}, forwards ${row.forward_ton_amount}${payloadOf(row)}${row.tx_aborted ? ', aborted' : ''}`,
    );
    expect(lines).toContain(
      '11 w3 > w8 by jetton_wallet_w3 100500000000 of jetton_minter, forwards 20000000 "jetton for w8"',
    );
    expect(lines).toContain('12 w4 > w0 by jetton_wallet_w4 5000000000 of jetton_minter, forwards 1');
    expect(lines).toContain(
      '21 w7 > w2 by stable_wallet_w7 123456 of stable_minter, forwards 10000000 "stable payment"',
    );
    expect(lines.filter((line) => line.endsWith('aborted'))).toEqual([
      '16 w5 > w5 by jetton_wallet_w3 1000000000 of jetton_minter, forwards 0, aborted',
      '15 w7 > w3 by jetton_wallet_w7 1000000000000000 of jetton_minter, forwards 0, aborted',
      '94 w5 > w5 by jetton_wallet_w3 1 of jetton_minter, forwards 0, aborted',
    ]);
    const series = Array.from({ length: 12 }, (_, index) => 100n + BigInt(index));
    const asked = [11n, 12n, 13n, 14n, 15n, 16n, 21n, 94n, ...series, 201n, 202n];
    expect(new Set(rows.map((row) => row.query_id))).toEqual(new Set(asked));
    expect(rows).toHaveLength(asked.length);
  });

  it('has its burns and the transfers of its items', async () => {
    const burns = await made.store.read<JettonBurnRow>('SELECT * FROM jetton_burns ORDER BY tx_lt');
    expect(
      burns.map((row) => [
        labelOfKey(row.owner),
        labelOfKey(row.jetton_wallet),
        row.amount,
        row.query_id,
        row.tx_aborted,
      ]),
    ).toEqual([
      ['w3', 'jetton_wallet_w3', 50_000_000_000n, 17n, false],
      ['w1', 'stable_wallet_w1', 1_000_000n, 22n, false],
    ]);
    const items = await made.store.read<NftTransferRow>('SELECT * FROM nft_transfers ORDER BY query_id');
    expect(
      items.map((row) => [
        row.query_id,
        [row.old_owner, row.new_owner, row.nft_item, row.nft_collection].map(labelOfKey),
        row.nft_index,
        row.tx_aborted,
        labelOf(row.response_destination),
        payloadOf(row),
      ]),
    ).toEqual([
      [51n, ['w5', 'w6', 'nft_0', 'nft_collection'], 0n, false, 'w5', ' "nft gift"'],
      [52n, ['w1', 'w8', 'nft_1', 'nft_collection'], 1n, false, 'w1', ''],
      [53n, ['w7', 'w7', 'nft_2', 'nft_collection'], 2n, true, 'w7', ''],
    ]);
  });
});

/** The comment in a payload. */
function payloadOf({ forward_payload: payload }: { readonly forward_payload: Uint8Array | null }): string {
  if (payload === null) return '';
  const slice = Cell.fromBoc(Buffer.from(payload))[0]!.beginParse();
  expect(slice.loadUint(32)).toBe(0);
  return ` "${slice.loadStringTail()}"`;
}
