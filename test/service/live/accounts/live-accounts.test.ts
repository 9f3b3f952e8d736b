import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import type { AccountId, LiveAccount, LiveAccounts } from '#service/live/accounts/accounts.ts';
import { createLiveAccounts } from '#service/live/accounts/live-accounts.ts';
import type { Trust } from '#service/pool/options.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { metric, openPool, patientTuning, until, within } from '#test/service/pool/network.ts';
import type { PoolUnderTest } from '#test/service/pool/network.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

type KnownAccount = { address: string; state_at_last: string; balance_at_last?: string; code_hash?: string };
type TonlibBlock = { workchain: number; shard: string; seqno: number; root_hash: string; file_hash: string };
type TonlibAccount = {
  '@type': string;
  balance: string;
  extra_currencies: { id: number; amount: string }[];
  code: string;
  data: string;
  last_transaction_id: { lt: string; hash: string };
  block_id: TonlibBlock;
  frozen_hash: string;
  sync_utime: number;
};
type TonlibQuestion = { '@type': string; account_address?: { account_address: string } };
type Exchange = {
  note: string;
  request: TonlibQuestion & { id?: TonlibBlock; function?: TonlibQuestion };
  response: TonlibAccount;
};

function parseAddress(text: string): AccountId {
  const [workchain, id] = text.split(':');
  return { workchain: Number(workchain), id: Buffer.from(id!, 'hex') };
}

function lines<T>(file: string): T[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

/** tonlib's `raw.fullAccountState` of an account as we read it; tonlib says -1 for the balance of an absent account. */
function asTonlib(account: LiveAccount): TonlibAccount {
  const absent = account.state === 'uninitialized' && account.balance === 0n && account.lastTransaction.lt === 0n;
  const { workchain, seqno, rootHash, fileHash, shard } = account.masterchainBlock;
  return {
    '@type': 'raw.fullAccountState',
    balance: absent ? '-1' : account.balance.toString(),
    extra_currencies: account.extraCurrencies.map(({ id, amount }) => ({ id, amount: amount.toString() })),
    code: account.code?.toString('base64') ?? '',
    data: account.data?.toString('base64') ?? '',
    last_transaction_id: {
      lt: account.lastTransaction.lt.toString(),
      hash: account.lastTransaction.hash.toString('base64'),
    },
    block_id: {
      workchain,
      shard: BigInt.asIntN(64, shard).toString(),
      seqno,
      root_hash: rootHash.toString('base64'),
      file_hash: fileHash.toString('base64'),
    },
    frozen_hash: account.frozenHash?.toString('base64') ?? '',
    sync_utime: account.shardUtime,
  };
}

/** Without the names that JSON of TL adds to nested objects. */
function withoutTypes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, part: unknown) => (key === '@type' ? undefined : part)));
}

const recordings = recordingDirs().map((dir) => ({ dir, name: dir.split('/').at(-1)! }));
skipLoudly(recordings.length === 0, { what: 'live accounts', why: 'no recorded network among the fixtures' });

describe.each(recordings)('accounts of the recorded network $name', ({ dir }) => {
  const known = Object.entries(
    JSON.parse(readFileSync(join(dir, 'accounts.json'), 'utf8')) as Record<string, KnownAccount>,
  );
  let network: Devchain;
  let open: PoolUnderTest;
  let live: LiveAccounts;

  beforeAll(async () => {
    network = await createDevchain(
      { recordingDir: dir, paceSeconds: 0, servers: [{}, {}] },
      { logger: pino({ level: 'silent' }), register: new Registry(), chain: await recordedChain(dir) },
    );
    // No second query because the machine is busy: queries are counted.
    open = openPool(network, { tuning: patientTuning });
    live = createLiveAccounts({ trust: 'verified' }, { pool: open.pool });
    await until(() => open.pool.head()?.block.seqno === network.chain.lastSeqno);
  });

  afterAll(async () => {
    await open.close();
    await network.close();
  });

  test.each(known)('%s at the head', async (_label, { address, state_at_last: state, ...expected }) => {
    const { value } = await live.readAccount(parseAddress(address), undefined, within(60_000));
    expect(value.state).toBe(state === 'none' || state === 'uninit' ? 'uninitialized' : state);
    expect(value.balance).toBe(BigInt(expected.balance_at_last ?? 0));
    const code = value.code && parseBoc(value.code);
    expect(code?.hash(code.roots[0]!).toString('hex')).toBe(expected.code_hash);
    expect(value.masterchainBlock).toEqual(network.head().id);
    expect(value.suspended).toBe(false);
  });

  test("every recorded answer of tonlib's raw.getAccountState at a block, field by field", async () => {
    const exchanges = lines<Exchange>(join(dir, 'tonlib.jsonl')).filter(
      ({ request, response }) =>
        request['@type'] === 'withBlock' &&
        request.function?.['@type'] === 'raw.getAccountState' &&
        response['@type'] === 'raw.fullAccountState',
    );
    expect(exchanges.length).toBeGreaterThan(0);
    for (const { request, response, note } of exchanges) {
      const account = parseAddress(request.function!.account_address!.account_address);
      const { value } = await live.readAccount(account, request.id!.seqno, within(60_000));
      expect({ note, account: withoutTypes(asTonlib(value)) }).toEqual({ note, account: withoutTypes(response) });
    }
  });

  test('one upstream query for an account in a block, none more for its suspension', async () => {
    const { register } = open;
    const account = { workchain: -1, id: Buffer.alloc(32, 0x34) };
    const asked = (): Promise<number> => metric(register, 'ton_pool_attempts_total');
    await live.readAccount({ workchain: -1, id: Buffer.alloc(32, 0x33) }, undefined, within(60_000));
    const before = await asked();
    const answers = await Promise.all([1, 2, 3].map(() => live.readAccount(account, undefined, within(60_000))));
    expect(answers.every(({ liteServers, cached }) => liteServers.length === 1 && !cached)).toBe(true);
    expect((await asked()) - before).toBe(1);
    expect(await live.readAccount(account, undefined, within(60_000))).toMatchObject({ liteServers: [], cached: true });
    expect((await asked()) - before).toBe(1);
  });

  test('the seqno of the head is the head, and an old one is proved once', async () => {
    const account = parseAddress(known[0]![1].address);
    const atHead = await live.readAccount(account, undefined, within(60_000));
    const bySeqno = await live.readAccount(account, network.chain.lastSeqno, within(60_000));
    expect(bySeqno).toEqual({ value: atHead.value, liteServers: [], cached: true });
    const seqno = Math.ceil(network.chain.lastSeqno / 3);
    const old = await live.readAccount(account, seqno, within(60_000));
    expect(old.value.masterchainBlock).toEqual(network.chain.masterchain(seqno)!.id);
    expect((await live.readAccount(account, seqno, within(60_000))).cached).toBe(true);
  });

  test("a seqno that is not there yet is the lite server's error 651", async () => {
    const future = live.readAccount(parseAddress(known[0]![1].address), network.chain.lastSeqno + 50, within(60_000));
    await expect(future).rejects.toMatchObject({ data: { serverCode: 651 } });
    const farFuture = live.readAccount(parseAddress(known[0]![1].address), 2 ** 31 - 1, within(60_000));
    await expect(farFuture).rejects.toMatchObject({ data: { serverCode: 651 } });
  });

  test('an account of a workchain without shards is uninitialized as of the masterchain block', async () => {
    const { value } = await live.readAccount({ workchain: 7, id: Buffer.alloc(32, 1) }, undefined, within(60_000));
    expect(value).toMatchObject({ state: 'uninitialized', balance: 0n, code: null, data: null, frozenHash: null });
    expect(value.shardUtime).toBe(network.head().header.utime);
    expect(value.shardBlock).toEqual(network.head().id);
  });

  test('the masterchain info is the served head', async () => {
    const { value } = await live.readMasterchainInfo(within(100));
    expect(value).toEqual({
      last: network.head().id,
      stateRootHash: network.chain.states.hash(network.head().state),
      init: {
        workchain: -1,
        rootHash: network.chain.zeroStates[0]!.id.rootHash,
        fileHash: network.chain.zeroStates[0]!.id.fileHash,
      },
    });
  });

  test.each<Trust>(['signed-head', 'none'])('under trust %s the same accounts are read', async (trust) => {
    const other = openPool(network, { trust, tuning: patientTuning });
    await until(() => other.pool.ready());
    const unproved = createLiveAccounts({ trust }, { pool: other.pool });
    for (const [label, { address }] of known) {
      const account = parseAddress(address);
      const expected = await live.readAccount(account, undefined, within(60_000));
      const { value } = await unproved.readAccount(account, undefined, within(60_000));
      expect({ label, value }).toEqual({ label, value: expected.value });
    }
    await other.close();
  });
});
