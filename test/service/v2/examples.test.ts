import { describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import type { LiveAccount } from '#service/live/accounts/accounts.ts';
import { viewAccountStatus, viewFullAccountState } from '#service/v2/accounts.ts';
import { viewMasterchainInfo } from '#service/v2/blocks.ts';
import { reference, type Json } from '#test/service/http/reference.ts';
import { absentAccount, activeAccount, bytes32 } from './scripted-accounts.ts';

/** Results of every example that the published contract gives for an operation. */
function examplesOf(operation: string): Json[] {
  const responses = reference.paths[`/api/v2/${operation}`]?.['get']?.['responses'] as Json | undefined;
  const content = (responses?.['200'] as { content?: Json } | undefined)?.content?.['application/json'];
  const examples = (content as { examples?: Record<string, { value: { result: Json } }> } | undefined)?.examples ?? {};
  return Object.values(examples).map(({ value }) => value.result);
}

describe('the examples of the contract', () => {
  it('are there', () => {
    expect(examplesOf('getAddressInformation').length).toBeGreaterThan(0);
    expect(examplesOf('getMasterchainInfo').length).toBeGreaterThan(0);
  });

  it.each(examplesOf('getAddressInformation'))('of getAddressInformation come back byte for byte', (example) => {
    expect(JSON.stringify(viewFullAccountState(accountOf(example)))).toBe(JSON.stringify(example));
    expect(viewAccountStatus(accountOf(example))).toBe(example['state']);
  });

  it.each(examplesOf('getMasterchainInfo'))('of getMasterchainInfo come back byte for byte', (example) => {
    const info = {
      last: blockOf(example['last'] as Json),
      stateRootHash: base64(example['state_root_hash']),
      init: blockOf(example['init'] as Json),
    };
    expect(JSON.stringify(viewMasterchainInfo(info))).toBe(JSON.stringify(example));
  });
});

describe('an account', () => {
  const account = { workchain: 0, id: bytes32(1) };

  it('shows amounts and times beyond 2^53 exactly', () => {
    const view = viewFullAccountState(
      activeAccount(account, {
        balance: 2n ** 120n - 1n,
        lastTransaction: { lt: 2n ** 63n - 1n, hash: bytes32(3) },
        extraCurrencies: [{ id: -2_147_483_648, amount: 2n ** 248n - 1n }],
      }),
    );
    expect(view.balance).toBe('1329227995784915872903807060280344575');
    expect(view.last_transaction_id.lt).toBe('9223372036854775807');
    expect(view.extra_currencies).toEqual([
      { '@type': 'extraCurrency', id: -2_147_483_648, amount: (2n ** 248n - 1n).toString() },
    ]);
  });

  it('lists at most 1024 extra currencies', () => {
    const extraCurrencies = Array.from({ length: 1500 }, (_, id) => ({ id, amount: 1n }));
    expect(viewFullAccountState(activeAccount(account, { extraCurrencies })).extra_currencies).toHaveLength(1024);
  });

  it('is named by its code first, then by its frozen hash', () => {
    expect(viewAccountStatus(activeAccount(account))).toBe('active');
    expect(viewAccountStatus(activeAccount(account, { code: null }))).toBe('uninitialized');
    expect(viewAccountStatus(absentAccount(account, { frozenHash: bytes32(9) }))).toBe('frozen');
    expect(viewAccountStatus(absentAccount(account))).toBe('uninitialized');
  });

  it('that never had a transaction keeps the zero hash that clients look for', () => {
    expect(viewFullAccountState(absentAccount(account)).last_transaction_id).toEqual({
      '@type': 'internal.transactionId',
      lt: '0',
      hash: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
    });
  });
});

function accountOf(example: Json): LiveAccount {
  const last = example['last_transaction_id'] as { lt: string; hash: string };
  const text = (field: string): Buffer | null => (example[field] === '' ? null : base64(example[field]));
  return {
    ...absentAccount({ workchain: 0, id: bytes32(0) }),
    state: example['state'] as LiveAccount['state'],
    balance: BigInt(example['balance'] as string),
    extraCurrencies: (example['extra_currencies'] as { id: number; amount: string }[]).map(({ id, amount }) => ({
      id,
      amount: BigInt(amount),
    })),
    lastTransaction: { lt: BigInt(last.lt), hash: base64(last.hash) },
    masterchainBlock: blockOf(example['block_id'] as Json),
    shardUtime: example['sync_utime'] as number,
    code: text('code'),
    data: text('data'),
    frozenHash: text('frozen_hash'),
    suspended: example['suspended'] as boolean,
  };
}

function blockOf(view: Json): BlockId {
  return {
    workchain: view['workchain'] as number,
    shard: BigInt.asUintN(64, BigInt(view['shard'] as string)),
    seqno: view['seqno'] as number,
    rootHash: base64(view['root_hash']),
    fileHash: base64(view['file_hash']),
  };
}

function base64(text: unknown): Buffer {
  return Buffer.from(text as string, 'base64');
}
