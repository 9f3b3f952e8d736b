import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import type { Trust } from '#service/config.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { recordingDirs } from '#test/support/fixtures.ts';

type RecordedAccount = { readonly address: string; readonly balance_at_last: string };

const [recordingDir = ''] = recordingDirs();
const accounts = Object.values(
  JSON.parse(readFileSync(join(recordingDir, 'accounts.json'), 'utf8')) as Record<string, RecordedAccount>,
);
const rich = accounts.find(({ balance_at_last: balance, address }) => balance !== '0' && address.startsWith('0:'))!;

let service: ApiUnderTest;
afterEach(() => service.close());

type LiteServerView = { readonly name: string; readonly lastMisbehaviour?: string; readonly misbehaviours: number };

async function liteServers(): Promise<readonly LiteServerView[]> {
  const response = await fetch(`${service.api.internalUrl}/status`, { headers: { accept: 'application/json' } });
  return ((await response.json()) as { liteServers: readonly LiteServerView[] }).liteServers;
}

describe.each<Trust>(['verified', 'signed-head', 'none'])('under trust %s', (trust) => {
  it('every kind of read is served, and right', async () => {
    service = await startApiUnderTest({ trust, servers: 2, behindBlocks: 0 });
    const head = service.api.pool.head()!.block.seqno;
    const balances = await Promise.all(
      accounts.map(({ address }) => service.get(`getAddressBalance?address=${address}`)),
    );
    expect(balances.map(({ body }) => body['result'])).toEqual(accounts.map((account) => account.balance_at_last));
    const answers = await Promise.all(
      [
        'getMasterchainInfo',
        'getConsensusBlock',
        `lookupBlock?workchain=-1&shard=-9223372036854775808&seqno=${head - 40}`,
        `getBlockHeader?workchain=-1&shard=-9223372036854775808&seqno=${head - 40}`,
        `shards?seqno=${head - 1}`,
        `getBlockTransactions?workchain=-1&shard=-9223372036854775808&seqno=${head - 1}`,
        `getTransactions?address=${rich.address}&limit=2`,
        'getConfigParam?config_id=8',
      ].map((path) => service.get(path)),
    );
    expect(answers.map(({ status, body }) => [status, body['ok']])).toEqual(answers.map(() => [200, true]));
    expect((await liteServers()).map(({ misbehaviours }) => misbehaviours)).toEqual([0, 0]);
  });
});

async function readForgedAccount(trust: Trust): ReturnType<ApiUnderTest['get']> {
  service = await startApiUnderTest({ trust, behindBlocks: 0, requestTimeoutMs: 3_000 });
  await service.network.liteServers[0]!.setFaults({ only: ['getAccountState'], forgedBalance: 12_345n });
  return service.get(`getAddressBalance?address=${rich.address}`);
}

describe('an account of forged blocks', () => {
  it('trust verified refuses an account of forged blocks, and names the failed check', async () => {
    const { status } = await readForgedAccount('verified');
    expect(status).toBeGreaterThanOrEqual(500);
    const [liteServer] = await liteServers();
    expect(liteServer).toMatchObject({ phase: 'out', cause: 'misbehaviour', misbehaviours: 1 });
    expect(liteServer!.lastMisbehaviour).toMatch(/accountState/);
    const metrics = await (await fetch(`${service.api.internalUrl}/metrics`)).text();
    expect(metrics).toMatch(/^ton_pool_misbehaviours_total\{[^}]*rule="[a-z_]+"[^}]*\} 1$/m);
  });

  it.each<Trust>(['signed-head', 'none'])('is what the lite server says under trust %s', async (trust) => {
    const { status, body } = await readForgedAccount(trust);
    expect([status, body['result']]).toEqual([200, '12345']);
  });
});
