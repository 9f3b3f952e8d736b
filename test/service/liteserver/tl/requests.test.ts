import { describe, expect, it } from 'vitest';
import { FULL_SHARD } from '#service/decode/block-id.ts';
import * as fn from '#service/liteserver/functions.ts';
import { query } from '#service/liteserver/tl/adnl.ts';
import { decodeEnvelope, encodeEnvelope } from '#service/liteserver/tl/envelope.ts';
import { decodeTl, encodeTl } from '#service/liteserver/tl/record.ts';
import { golden, requestVectors } from '#test/service/liteserver/adnl/vectors.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const mc = {
  workchain: -1,
  shard: FULL_SHARD,
  seqno: 31_220_993,
  rootHash: hex('51ed3b9e728e7c548b15a5e5ce988b4a74984c3f8374f3f1a52c7b1f46c26406'),
  fileHash: hex('d4fcdc692de1a252deb379cd25774842b733e6a96525adf82b8ffc41da667bf5'),
};
const shard = {
  workchain: 0,
  shard: FULL_SHARD,
  seqno: 36_908_135,
  rootHash: hex('39e5cbca5bf69750b5d9897872c3a0d7a3e614e521c53e4de728fafed38dce27'),
  fileHash: hex('f1f0e5cdc4b8a12cf2438dcab60f4712d1dc04f3792b1d72f2500cbf640948b7'),
};
const account = { workchain: 0, id: hex('6f5bc67986e06430961d9df00433926a4cd92e597ddd8aa6043645ac20bd1782') };
const lt = 39_330_697_000_001n;
const txHash = hex('649b46ac72e6e4d4c1293b66d58d9ed7a54902beefd97f5bff7977dd85998b3d');
const place = (seqno: number): { workchain: number; shard: bigint; seqno: number } => ({
  workchain: -1,
  shard: FULL_SHARD,
  seqno,
});

const ours: Record<string, Buffer> = {
  'liteServer.getMasterchainInfo ': fn.getMasterchainInfo.encode({}),
  'liteServer.getMasterchainInfoExt mode=0': fn.getMasterchainInfoExt.encode({ mode: 0 }),
  'liteServer.getTime ': fn.getTime.encode({}),
  'liteServer.getVersion ': fn.getVersion.encode({}),
  'liteServer.getBlock id=mc': fn.getBlock.encode({ id: mc }),
  'liteServer.getBlockHeader id=mc mode=1': fn.getBlockHeader.encode({ id: mc, mode: 1 }),
  'liteServer.getState id=mc': fn.getState.encode({ id: mc }),
  'liteServer.sendMessage body=0x0102030405': fn.sendMessage.encode({ body: hex('0102030405') }),
  'liteServer.getAccountState id=mc account': fn.getAccountState.encode({ id: mc, account }),
  'liteServer.getAccountStatePrunned id=mc account': fn.getAccountStatePrunned.encode({ id: mc, account }),
  'liteServer.runSmcMethod mode=7 id=mc account method_id=85143(seqno) params=empty': fn.runSmcMethod.encode({
    mode: 7,
    id: mc,
    account,
    methodId: 85_143n,
    params: Buffer.alloc(0),
  }),
  'liteServer.getShardInfo id=mc wc=0 shard=-2^63 exact=false': fn.getShardInfo.encode({
    id: mc,
    workchain: 0,
    shard: FULL_SHARD,
    exact: false,
  }),
  'liteServer.getAllShardsInfo id=mc': fn.getAllShardsInfo.encode({ id: mc }),
  'liteServer.getOneTransaction id=sh account lt=39330697000001': fn.getOneTransaction.encode({
    id: shard,
    account,
    lt,
  }),
  'liteServer.getTransactions count=16 account lt hash': fn.getTransactions.encode({
    count: 16,
    account,
    lt,
    hash: txHash,
  }),
  'liteServer.lookupBlock mode=1 (seqno)': fn.lookupBlock.encode({ mode: 1, id: place(mc.seqno) }),
  'liteServer.lookupBlock mode=2 (lt=39391488000000)': fn.lookupBlock.encode({
    mode: 2,
    id: place(0),
    lt: 39_391_488_000_000n,
  }),
  'liteServer.lookupBlock mode=4 (utime=1689699158)': fn.lookupBlock.encode({
    mode: 4,
    id: place(0),
    utime: 1_689_699_158,
  }),
  'liteServer.listBlockTransactions mode=7 count=100': fn.listBlockTransactions.encode({ id: mc, mode: 7, count: 100 }),
  'liteServer.listBlockTransactions mode=7+32+128 count=256 after=(account,lt)': fn.listBlockTransactions.encode({
    id: mc,
    mode: 7 + 32 + 128,
    count: 256,
    after: { account: account.id, lt },
  }),
  'liteServer.getBlockProof mode=1 known=mc target=mc': fn.getBlockProof.encode({
    mode: 1,
    knownBlock: mc,
    targetBlock: mc,
  }),
  'liteServer.getConfigAll mode=0': fn.getConfigAll.encode({ mode: 0, id: mc }),
  'liteServer.getConfigParams mode=0 list=[28,34]': fn.getConfigParams.encode({ mode: 0, id: mc, paramList: [28, 34] }),
  'liteServer.getLibraries [rootHash]': fn.getLibraries.encode({ libraryList: [mc.rootHash] }),
  'liteServer.getShardBlockProof id=sh': fn.getShardBlockProof.encode({ id: shard }),
  'adnl.message.query{liteServer.query{waitMasterchainSeqno(31220994,5000) getMasterchainInfo}} query_id=frame_nonce':
    encodeTl(query.boxed, {
      queryId: golden('frame_nonce'),
      query: encodeEnvelope(fn.getMasterchainInfo.encode({}), { seqno: 31_220_994, timeoutMs: 5_000 }),
    }),
};

describe('requests are the golden bytes', () => {
  it.each(requestVectors.map((vector) => [`${vector.function} ${vector.args}`, vector.hex]))(
    'the request has the golden bytes: %s',
    (name, expected) => {
      expect(ours[name]?.toString('hex')).toBe(expected);
    },
  );

  it('golden requests are read back, wait prefix included', () => {
    const enveloped = requestVectors.find((vector) => vector.function.startsWith('adnl.'));
    const sent = decodeTl(query.boxed, hex(enveloped?.hex ?? ''));
    expect(decodeEnvelope(sent.query)).toEqual({
      request: fn.getMasterchainInfo.encode({}),
      wait: { seqno: 31_220_994, timeoutMs: 5_000 },
    });
  });
});
