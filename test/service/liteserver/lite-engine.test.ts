import { Address } from '@ton/core';
import { LiteClient } from 'ton-lite-client';
import { describe, expect, it } from 'vitest';
import type { BlockId } from '#service/decode/block-id.ts';
import {
  getAccountState,
  getAllShardsInfo,
  getMasterchainInfo,
  getTime,
  getVersion,
  lookupBlock,
} from '#service/liteserver/functions.ts';
import { createLiteEngine } from '#service/liteserver/lite-engine.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import { errorAnswer } from '#service/liteserver/tl/envelope.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { eventually, failing, startClient, startServer } from './loopback.ts';
import { recordedExchanges, respondRecorded } from './recorded-node.ts';

const absent = skipLoudly(recordedExchanges.length === 0, {
  what: 'LiteClient over recorded answers',
  why: 'no recorded queries',
});

const engineOver = (client: LiteServer): ReturnType<typeof createLiteEngine> =>
  createLiteEngine({
    queryBytes: (request, options) => client.queryBytes(request, options),
    isReady: () => client.status().connected,
  });

/** Returns recorded exchanges of one function, without refused ones. */
function answered(name: string): readonly { request: Buffer; answer: Buffer }[] {
  return recordedExchanges.filter((exchange) => exchange.name === name && errorAnswer(exchange.answer) === undefined);
}

const theirs = ({ workchain, shard, seqno, rootHash, fileHash }: BlockId) => ({
  workchain,
  shard: BigInt.asIntN(64, shard).toString(),
  seqno,
  rootHash,
  fileHash,
});

describe.skipIf(absent)('ton-lite-client’s LiteClient on the engine', () => {
  it('LiteClient reads the head, the time and the version', async () => {
    const client = new LiteClient({ engine: engineOver(startClient(await startServer(respondRecorded()))) });
    const [head] = answered('getMasterchainInfo')
      .slice(-1)
      .map(({ answer }) => getMasterchainInfo.decode(answer));
    const [time] = answered('getTime').map(({ answer }) => getTime.decode(answer));
    const [version] = answered('getVersion').map(({ answer }) => getVersion.decode(answer));
    expect((await client.getMasterchainInfo()).last.seqno).toBe(head?.last.seqno);
    expect(await client.getCurrentTime()).toBe(time?.now);
    expect((await client.getVersion()).version).toBe(version?.version);
  });

  it('LiteClient reads every recorded account state', async () => {
    const client = new LiteClient({ engine: engineOver(startClient(await startServer(respondRecorded()))) });
    for (const { request, answer } of answered('getAccountState')) {
      const { id, account } = getAccountState.decodeArgs(request);
      if (id.seqno === 0xffffffff) continue;
      const expected = getAccountState.decode(answer);
      const address = new Address(account.workchain, account.id);
      const found = await client.getAccountStateRaw(address, theirs(id));
      expect(found.raw).toEqual(expected.state);
      expect(found.shardProof).toEqual(expected.shardProof);
      expect(found.shardBlock.seqno | 0).toBe(expected.shardBlock.seqno | 0);
    }
  });

  it('LiteClient lists shards and looks blocks up', async () => {
    const client = new LiteClient({ engine: engineOver(startClient(await startServer(respondRecorded()))) });
    for (const { request } of answered('getAllShardsInfo')) {
      const { id } = getAllShardsInfo.decodeArgs(request);
      expect(Object.keys((await client.getAllShardsInfo(theirs(id))).shards).length).toBeGreaterThan(0);
    }
    const bySeqno = answered('lookupBlock').filter(({ request }) => lookupBlock.decodeArgs(request).mode === 1);
    for (const { request, answer } of bySeqno) {
      const { workchain, shard, seqno } = lookupBlock.decodeArgs(request).id;
      const found = await client.lookupBlockByID({ workchain, shard: BigInt.asIntN(64, shard).toString(), seqno });
      expect(found.headerProof).toEqual(lookupBlock.decode(answer).headerProof);
    }
    expect(bySeqno.length).toBeGreaterThan(0);
  });
});

describe('the engine', () => {
  it('the engine throws the lite server’s error as its class', async () => {
    const client = new LiteClient({
      engine: engineOver(startClient(await startServer(() => failing(-503, 'timeout')))),
    });
    await expect(client.getCurrentTime()).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('the engine gives up at the given timeout', async () => {
    const client = new LiteClient({ engine: engineOver(startClient(await startServer(() => null))) });
    await expect(client.getCurrentTime({ timeout: 30 })).rejects.toMatchObject({ code: 'timeout' });
  });

  it('the engine waits for a block if asked', async () => {
    const asked: (object | undefined)[] = [];
    const engine = createLiteEngine({
      queryBytes: (_request, options) => {
        asked.push(options.waitMasterchain);
        return Promise.resolve(getTime.encodeAnswer({ now: 1 }));
      },
      isReady: () => true,
    });
    await new LiteClient({ engine }).getCurrentTime({ awaitSeqno: 12, timeout: 700 });
    expect(asked).toEqual([{ seqno: 12, timeoutMs: 700 }]);
  });

  it('a closed engine refuses queries, while the lite server stays open', async () => {
    const client = startClient(await startServer());
    await eventually('it is connected', () => client.status().connected);
    const engine = engineOver(client);
    let closed = 0;
    engine.on('close', () => (closed += 1));
    expect([engine.isReady(), engine.isClosed()]).toEqual([true, false]);
    engine.close();
    engine.close();
    expect([engine.isReady(), engine.isClosed(), closed]).toEqual([false, true, 1]);
    await expect(new LiteClient({ engine }).getCurrentTime()).rejects.toThrow('closed');
    expect(await client.query(getTime, {}, { timeoutMs: 60_000 })).toEqual({ now: 1_000_000 });
  });
});
