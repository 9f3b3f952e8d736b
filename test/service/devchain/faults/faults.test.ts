import { describe, expect, it } from 'vitest';

import { sameBlock } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { merkleProofRoot } from '#service/decode/merkle.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import type { QueryFaults } from '#service/devchain/faults/faults.ts';
import * as functions from '#service/liteserver/functions.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import type { AccountState } from '#service/liteserver/tl/lite-api.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { ProofError } from '#service/proof/errors.ts';
import { connect, startNetwork } from '../network.ts';

const timeoutMs = 5_000;
const masterchainAccount = { workchain: -1, id: Buffer.alloc(32, 0x33) };

/** Any account of the basechain at the head. */
async function findAccount(devchain: Devchain, client: LiteServer): Promise<{ workchain: number; id: Buffer }> {
  for (let seqno = devchain.head().id.seqno; seqno > 0; seqno--) {
    for (const { block } of devchain.chain.masterchain(seqno)!.shards) {
      const args = { id: block, mode: 7, count: 1 };
      const { ids } = await client.query(functions.listBlockTransactions, args, { timeoutMs });
      if (ids[0]?.account !== undefined) return { workchain: block.workchain, id: ids[0].account };
    }
  }
  throw new Error('the recording has no transaction in a shard');
}

function readState(
  devchain: Devchain,
  client: LiteServer,
  account: { workchain: number; id: Buffer },
): Promise<AccountState> {
  return client.query(functions.getAccountState, { id: devchain.head().id, account }, { timeoutMs });
}

function check(devchain: Devchain, account: { workchain: number; id: Buffer }, answer: AccountState): unknown {
  return checkAccountState({ block: devchain.head().id, workchain: account.workchain, account: account.id }, answer);
}

describe('a lite server that is told to do wrong', () => {
  it.each<[string, QueryFaults, object]>([
    ['is out of time', { overloadedAfterMs: 10 }, { data: { serverCode: -503, text: 'timeout' } }],
    ['limits', { refuse: { code: 429, text: 'too many requests' } }, { code: 'overloaded', data: { serverCode: 429 } }],
    ['is busy', { refuse: { code: 228, text: 'busy' } }, { code: 'overloaded', data: { serverCode: 228 } }],
    ['lags', { notReady: 'lagging' }, { code: 'lagging', data: { serverCode: 651 } }],
    ['keeps no old blocks', { notReady: 'pruned' }, { code: 'pruned', data: { serverCode: 651 } }],
  ])('%s', async (_, faults, expected) => {
    const devchain = await startNetwork([{ faults }]);
    await expect(readState(devchain, connect(devchain), masterchainAccount)).rejects.toMatchObject(expected);
  });

  it('has a clock that is wrong', async () => {
    const devchain = await startNetwork([{}, { faults: { clockSkewSeconds: -3_600 } }]);
    const [right, wrong] = await Promise.all(
      [0, 1].map((index) => connect(devchain, index).query(functions.getTime, {}, { timeoutMs })),
    );
    expect(right!.now - wrong!.now).toBeGreaterThan(3_590);
    expect(right!.now - wrong!.now).toBeLessThan(3_610);
  });

  it('answers with one bit altered', async () => {
    const devchain = await startNetwork([{}, { faults: { alteredAt: 0.5 } }]);
    const args = { id: devchain.head().id, mode: 0 };
    const [right, wrong] = await Promise.all(
      [0, 1].map((index) => connect(devchain, index).query(functions.getBlockHeader, args, { timeoutMs })),
    );
    const bits = [...right!.headerProof].map((byte, at) => byte ^ wrong!.headerProof[at]!).filter((byte) => byte !== 0);
    expect(bits.map((byte) => byte.toString(2).replaceAll('0', ''))).toEqual(['1']);
  });

  it('says nothing', async () => {
    const devchain = await startNetwork([{ faults: { silent: true } }]);
    const asking = connect(devchain).query(functions.getTime, {}, { timeoutMs: 100 });
    await expect(asking).rejects.toMatchObject({ code: 'timeout', data: { serverCode: undefined } });
  });

  it('does it to the named functions only, until it is told otherwise', async () => {
    const devchain = await startNetwork([{ faults: { only: ['getTime'], notReady: 'pruned' } }]);
    const client = connect(devchain);
    await expect(client.query(functions.getTime, {}, { timeoutMs })).rejects.toMatchObject({ code: 'pruned' });
    await client.query(functions.getVersion, {}, { timeoutMs });
    await devchain.liteServers[0]!.setFaults({});
    await client.query(functions.getTime, {}, { timeoutMs });
  });

  it('spares the other lite servers', async () => {
    const devchain = await startNetwork([{ faults: { notReady: 'pruned' } }, {}]);
    await expect(connect(devchain, 0).query(functions.getTime, {}, { timeoutMs })).rejects.toThrow('not in db');
    await connect(devchain, 1).query(functions.getTime, {}, { timeoutMs });
  });

  it('answers about another block', async () => {
    const devchain = await startNetwork([{ faults: { wrongId: true } }]);
    const answer = await readState(devchain, connect(devchain), masterchainAccount);
    expect(sameBlock(answer.id, devchain.head().id)).toBe(false);
    expect(() => check(devchain, masterchainAccount, answer)).toThrow(ProofError);
  });

  it.each(['wrongHash', 'storedHash', 'missingCell'] as const)('sends a proof with %s', async (proof) => {
    const devchain = await startNetwork();
    const client = connect(devchain);
    const account = await findAccount(devchain, client);
    check(devchain, account, await readState(devchain, client, account));
    await devchain.liteServers[0]!.setFaults({ proof });
    const answer = await readState(devchain, client, account);
    expect(sameBlock(answer.id, devchain.head().id)).toBe(true);
    expect(() => check(devchain, account, answer)).toThrow(ProofError);
  });

  it('keeps the right hash in a forged proof, or makes it fit', async () => {
    const devchain = await startNetwork();
    const client = connect(devchain);
    const root = devchain.head().id.rootHash;
    const storedIn = async (proof: 'storedHash' | 'wrongHash'): Promise<Buffer> => {
      await devchain.liteServers[0]!.setFaults({ proof });
      const answer = await readState(devchain, client, masterchainAccount);
      const boc = parseBoc(answer.proof);
      const at = boc.dataOffset(boc.roots[0]!) + 1;
      return boc.bytes.subarray(at, at + 32);
    };
    expect(await storedIn('storedHash')).toEqual(root);
    expect(await storedIn('wrongHash')).not.toEqual(root);
  });

  it('forges a balance consistently up to the masterchain block', async () => {
    const devchain = await startNetwork();
    const client = connect(devchain);
    const forgedBalance = 123_456_789_000n;
    for (const account of [masterchainAccount, await findAccount(devchain, client)]) {
      await devchain.liteServers[0]!.setFaults({ forgedBalance });
      const answer = await readState(devchain, client, account);
      await devchain.liteServers[0]!.setFaults({});
      const state = parseBoc(answer.state);
      expect(readAccount(state, state.roots[0]!)?.balance.grams).toBe(forgedBalance);
      expect(() => check(devchain, account, answer)).toThrow(ProofError);
      const outer = parseBoc(answer.shardProof.length === 0 ? answer.proof : answer.shardProof);
      const rootHash = outer.hash(merkleProofRoot(outer, outer.roots[0]!), 0);
      const forgedBlock = { ...devchain.head().id, rootHash };
      const forged = {
        ...answer,
        id: forgedBlock,
        ...(answer.shardProof.length === 0 && { shardBlock: forgedBlock }),
      };
      checkAccountState({ block: forgedBlock, workchain: account.workchain, account: account.id }, forged);
    }
  });

  it.each<[string, QueryFaults, (tip: number, head: number) => boolean]>([
    ['stands still', { tip: { kind: 'stale', seqno: 5 } }, (tip) => tip === 5],
    ['stays behind', { tip: { kind: 'behind', blocks: 4 } }, (tip, head) => tip === head - 4],
    ['is in the far future', { tip: { kind: 'future', blocks: 1_000_000 } }, (tip, head) => tip === head + 1_000_000],
  ])('has a tip that %s', async (_, faults, holds) => {
    const devchain = await startNetwork([{ faults }]);
    const { last } = await connect(devchain).query(functions.getMasterchainInfo, {}, { timeoutMs });
    expect(holds(last.seqno, devchain.head().id.seqno)).toBe(true);
  });

  it('has a tip that goes back and forth', async () => {
    const devchain = await startNetwork([{ faults: { tip: { kind: 'backwards', blocks: 3 } } }]);
    const client = connect(devchain);
    const seqnos = [];
    for (let time = 0; time < 4; time++) {
      seqnos.push((await client.query(functions.getMasterchainInfo, {}, { timeoutMs })).last.seqno);
    }
    const head = devchain.head().id.seqno;
    expect(new Set(seqnos)).toEqual(new Set([head, head - 3]));
    expect(seqnos[0]).not.toBe(seqnos[1]);
  });

  it('does not know blocks above its own stale tip', async () => {
    const devchain = await startNetwork([{ faults: { tip: { kind: 'stale', seqno: 5 } } }]);
    const asking = connect(devchain).query(functions.getBlock, { id: devchain.head().id }, { timeoutMs });
    await expect(asking).rejects.toThrow('(last known masterchain block: 5)');
  });

  it('announces another zerostate', async () => {
    const devchain = await startNetwork([{ faults: { otherZeroState: true } }]);
    const { init } = await connect(devchain).query(functions.getMasterchainInfo, {}, { timeoutMs });
    expect(init.rootHash).not.toEqual(devchain.chain.zeroStates[0]!.id.rootHash);
  });

  it('answers a block of 10 MB', async () => {
    const devchain = await startNetwork([{ faults: { blockBytes: 10_000_000 } }]);
    const { data } = await connect(devchain).query(functions.getBlock, { id: devchain.head().id }, { timeoutMs });
    expect(data.length).toBe(10_000_000);
  });

  it('a lite server with the fault answers every message as a duplicate', async () => {
    const devchain = await startNetwork([{ faults: { duplicate: true } }]);
    const sending = connect(devchain).query(functions.sendMessage, { body: Buffer.from('any') }, { timeoutMs });
    await expect(sending).rejects.toMatchObject({ code: 'duplicate' });
  });

  it('breaks the transport and mends it', async () => {
    const devchain = await startNetwork([{ faults: { transport: { badFrameHash: true } } }]);
    const server = devchain.liteServers[0]!;
    await expect(connect(devchain).query(functions.getTime, {}, { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'unreachable',
    });
    await server.setFaults({});
    expect(server.faults()).toEqual({ transport: {} });
    await connect(devchain).query(functions.getTime, {}, { timeoutMs });
  });
});
