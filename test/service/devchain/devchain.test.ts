import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';

import { sameBlock } from '#service/decode/block-id.ts';
import * as functions from '#service/liteserver/functions.ts';
import { connect, recordingDir, silent, startNetwork } from './network.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import { Registry } from 'prom-client';

const timeoutMs = 5_000;

describe('the development chain', () => {
  it('announces its head over real ADNL and moves it', async () => {
    const devchain = await startNetwork();
    const client = connect(devchain);
    const first = await client.query(functions.getMasterchainInfo, {}, { timeoutMs });
    expect(sameBlock(first.last, devchain.head().id)).toBe(true);
    devchain.moveHead(first.last.seqno + 2);
    const second = await client.query(functions.getMasterchainInfo, {}, { timeoutMs });
    expect(second.last.seqno).toBe(first.last.seqno + 2);
    expect(second.init).toEqual(first.init);
  });

  it('starts some blocks before the end of the recording and plays on at its pace', async () => {
    const devchain = await startNetwork([{}], { paceSeconds: 0.01, startBehindBlocks: 3 });
    const seqnos = [devchain.head().id.seqno];
    await new Promise<void>((resolve) => {
      devchain.onHead(({ id }) => {
        seqnos.push(id.seqno);
        if (id.seqno === devchain.chain.lastSeqno) resolve();
      });
    });
    const { lastSeqno } = devchain.chain;
    expect(seqnos).toEqual([lastSeqno - 3, lastSeqno - 2, lastSeqno - 1, lastSeqno]);
  });

  it('plays everything at once at pace 0', async () => {
    const devchain = await startNetwork([{}], { paceSeconds: 0 });
    expect(devchain.head().id.seqno).toBe(devchain.chain.lastSeqno);
  });

  it('has no block above its head', async () => {
    const devchain = await startNetwork();
    const client = connect(devchain);
    const { seqno } = devchain.head().id;
    const next = devchain.chain.masterchain(seqno + 1)!.id;
    const reading = client.query(functions.getBlock, { id: next }, { timeoutMs });
    await expect(reading).rejects.toMatchObject({
      code: 'lagging',
      data: { serverCode: 651, text: `block handle not in db (last known masterchain block: ${seqno})` },
    });
    devchain.moveHead(seqno + 1);
    expect((await client.query(functions.getBlock, { id: next }, { timeoutMs })).id).toEqual(next);
  });

  it('has no shard block that only a later masterchain block refers to', async () => {
    const devchain = await startNetwork();
    const { seqno } = devchain.head().id;
    const later = Array.from({ length: 20 }, (_, ahead) => devchain.chain.masterchain(seqno + ahead + 1)!);
    const known = new Set(devchain.head().shards.map(({ block }) => block.rootHash.toString('hex')));
    const fresh = later
      .flatMap(({ shards }) => shards)
      .find(({ block }) => !known.has(block.rootHash.toString('hex')))!;
    const reading = connect(devchain).query(functions.getBlock, { id: fresh.block }, { timeoutMs });
    await expect(reading).rejects.toMatchObject({
      data: { text: `block handle not in db (possibly out of sync: shard_client_seqno=${seqno} ls_seqno=${seqno})` },
    });
  });

  it('answers a wait when the block comes', async () => {
    const devchain = await startNetwork();
    const client = connect(devchain);
    const { seqno } = devchain.head().id;
    const waitMasterchain = { seqno: seqno + 1, timeoutMs: 4_000 };
    const waiting = client.query(functions.getMasterchainInfo, {}, { timeoutMs, waitMasterchain });
    setTimeout(() => devchain.moveHead(seqno + 1), 20);
    expect((await waiting).last.seqno).toBe(seqno + 1);
  });

  it('describes itself in the form of the ecosystem', async () => {
    const devchain = await startNetwork([{}, {}]);
    const zeroState = devchain.chain.zeroStates[0]!.id;
    const config = devchain.globalConfig();
    expect(config.liteservers).toEqual(
      devchain.liteServers.map(({ port, publicKey }) => ({
        '@type': 'liteserver.desc',
        ip: 0x7f000001,
        port,
        id: { '@type': 'pub.ed25519', key: publicKey.toString('base64') },
      })),
    );
    expect(config.validator.zero_state).toMatchObject({
      workchain: -1,
      seqno: 0,
      root_hash: zeroState.rootHash.toString('base64'),
      file_hash: zeroState.fileHash.toString('base64'),
    });
    expect(config.validator.init_block).toEqual(config.validator.zero_state);
    expect(JSON.stringify(config.validator.zero_state)).toContain('"shard":-9223372036854775808,');
  });

  it('keeps a key that it is given', async () => {
    const seed = Buffer.alloc(32, 7);
    const [one, other] = [await startNetwork([{ seed }]), await startNetwork([{ seed }])];
    expect(one.liteServers[0]!.publicKey).toEqual(other.liteServers[0]!.publicKey);
  });

  it('says that a port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    await expect(startNetwork([{}, { port }])).rejects.toMatchObject({ code: 'listen_failed', data: { port } });
    taken.close();
  });

  it('closes every connection and frees its ports', async () => {
    const devchain = await startNetwork();
    const client = connect(devchain);
    await client.query(functions.getTime, {}, { timeoutMs });
    const { port } = devchain.liteServers[0]!;
    await devchain.close();
    const again = await startNetwork([{ port }]);
    expect(again.liteServers[0]!.port).toBe(port);
  });

  it('loads its recording by itself and counts its queries', async () => {
    const register = new Registry();
    const devchain = await createDevchain({ recordingDir, paceSeconds: 0 }, { logger: silent, register });
    const client = connect(devchain);
    await client.query(functions.getTime, {}, { timeoutMs });
    const text = await register.getSingleMetricAsString('ton_devchain_queries_total');
    expect(text).toContain('ton_devchain_queries_total{function="getTime",outcome="answered"} 1');
    await devchain.close();
  });

  it('refuses a folder that is no recording', async () => {
    await expect(startNetwork([{}], { recordingDir: import.meta.dirname })).rejects.toMatchObject({
      code: 'recording_invalid',
    });
  });
});
