import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { TlRecord } from '#service/liteserver/tl/record.ts';
import { liteServerFunctions } from '#service/liteserver/function-table.ts';
import * as adnl from '#service/liteserver/tl/adnl.ts';
import * as consensus from '#service/liteserver/tl/consensus.ts';
import { envelopeRecords } from '#service/liteserver/tl/envelope.ts';
import * as api from '#service/liteserver/tl/lite-api.ts';
import * as tonNode from '#service/liteserver/tl/ton-node.ts';
import { projectRoot } from '#test/style/sources.ts';

// Ids of the pages (service/liteserver/README.md#functions, service/proof/README.md#signatures).
const functionIds: Record<string, string> = {
  getMasterchainInfo: '89b5e62e',
  getMasterchainInfoExt: '70a671df',
  getTime: '16ad5a34',
  getVersion: '232b940b',
  getBlock: '6377cf0d',
  getState: 'ba6e2eb6',
  getBlockHeader: '21ec069e',
  sendMessage: '690ad482',
  getAccountState: '6b890e25',
  getAccountStatePrunned: '5a698507',
  runSmcMethod: '5cc65dd2',
  getShardInfo: '46a2f425',
  getAllShardsInfo: '74d3fd6b',
  getOneTransaction: 'd40f24ea',
  getTransactions: '1c40e7a1',
  lookupBlock: 'fac8f71e',
  lookupBlockWithProof: '9c045ff8',
  listBlockTransactions: 'adfcc7da',
  listBlockTransactionsExt: '0079dd5c',
  getBlockProof: '8aea9c44',
  getConfigAll: '911b26b7',
  getConfigParams: '2a111c19',
  getValidatorStats: '091a58bc',
  getLibraries: 'd122b662',
  getLibrariesWithProof: 'd97693bd',
  getShardBlockProof: '4ca60350',
  getOutMsgQueueSizes: '7bc19c36',
  getBlockOutMsgQueueSize: '8f6c7779',
  getDispatchQueueInfo: '01e66bf3',
  getDispatchQueueMessages: 'bbfd6439',
  'nonfinal.getPendingShardBlocks': '5a8ee82c',
};

const typeIds: Record<string, string> = {
  'tcp.ping': '4d082b9a',
  'tcp.pong': 'dc69fb03',
  'adnl.message.query': 'b48bf97a',
  'adnl.message.answer': '0fac8416',
  'tcp.authentificate': '445bab12',
  'tcp.authentificationNonce': 'e35d4ab6',
  'tcp.authentificationComplete': 'f7ad9ea6',
  'pub.ed25519': '4813b4c6',
  'liteServer.query': '798c06df',
  'liteServer.queryPrefix': '72d3e686',
  'liteServer.waitMasterchainSeqno': 'baeab892',
  'tonNode.blockId': 'b7cdb167',
  'tonNode.blockIdExt': '6752eb78',
  'tonNode.zeroStateIdExt': '1d7235ae',
  'ton.blockId': 'c50b6e70',
  'consensus.dataToSign': 'a8e33df8',
  'consensus.simplex.finalizeVote': '40a7e105',
  'consensus.candidateId': 'b691cd3f',
  'liteServer.error': 'bba9e148',
  'liteServer.serverBusy': '092e9c55',
  'liteServer.accountId': '75a0e2c5',
  'liteServer.libraryEntry': '8aff2446',
  'liteServer.transactionId': 'b12f65af',
  'liteServer.transactionId3': '2c81da77',
  'liteServer.transactionMetadata': 'ff706385',
  'liteServer.signature': 'a3def855',
  'liteServer.shardBlockLink': 'd30dcf72',
  'liteServer.outMsgQueueSize': 'a7c64c85',
  'liteServer.accountDispatchQueueInfo': '9b52aabb',
  'liteServer.dispatchQueueMessage': '84c423ea',
  'liteServer.masterchainInfo': '85832881',
  'liteServer.masterchainInfoExt': 'a8cce0f5',
  'liteServer.currentTime': 'e953000d',
  'liteServer.version': '5a0491e5',
  'liteServer.blockData': 'a574ed6c',
  'liteServer.blockState': 'abaddc0c',
  'liteServer.blockHeader': '752d8219',
  'liteServer.sendMsgStatus': '3950e597',
  'liteServer.accountState': '7079c751',
  'liteServer.runMethodResult': 'a39a616b',
  'liteServer.shardInfo': '9fe6cd84',
  'liteServer.allShardsInfo': '098fe72d',
  'liteServer.transactionInfo': '0edeed47',
  'liteServer.transactionList': '6f26c60b',
  'liteServer.blockTransactions': 'bd8cad2b',
  'liteServer.blockTransactionsExt': 'fb8ffce4',
  'liteServer.partialBlockProof': '8ed0d2c1',
  'liteServer.configInfo': 'ae7b272f',
  'liteServer.validatorStats': 'b9f796d8',
  'liteServer.libraryResult': '117ab96b',
  'liteServer.libraryResultWithProof': '10a927bf',
  'liteServer.shardBlockProof': '1d62a07a',
  'liteServer.lookupBlockResult': '99786be7',
  'liteServer.outMsgQueueSizes': 'f8504a03',
  'liteServer.blockOutMsgQueueSize': '8acdbe1b',
  'liteServer.dispatchQueueInfo': '5d1132d0',
  'liteServer.dispatchQueueMessages': '4b407931',
  'liteServer.nonfinal.pendingShardBlocks': '1fd06e4d',
};

/** Constructors of unions, which are found by the id at the start of their bytes. */
const unionIds: Record<string, string> = {
  'liteServer.signatureSet.ordinary': 'f644a6e6',
  'liteServer.signatureSet.simplex': 'ac249800',
  'liteServer.blockLinkBack': 'ef7e1bef',
  'liteServer.blockLinkForward': '520fce1c',
  'consensus.candidateHashDataOrdinary': 'e8f9bcdc',
  'consensus.candidateHashDataEmpty': '72b4d933',
};

const explicitIds = ['liteServer.getValidatorStats', 'liteServer.signatureSet.ordinary', 'liteServer.transactionId'];

const isRecord = (value: unknown): value is TlRecord<unknown> =>
  typeof value === 'object' && value !== null && 'declaration' in value;

const records = [api, adnl, tonNode, consensus]
  .flatMap((module) => Object.values(module) as unknown[])
  .flatMap((value) =>
    typeof value === 'object' && value !== null && 'variants' in value
      ? Object.values(value.variants as Record<string, unknown>)
      : [value],
  )
  .filter(isRecord)
  .concat(envelopeRecords);

const hex = (id: number): string => id.toString(16).padStart(8, '0');

describe('constructor ids', () => {
  it.each(liteServerFunctions.map((fn) => [fn.name, fn] as const))(
    'the constructor id of the function %s is documented',
    (name, fn) => {
      expect(hex(fn.id)).toBe(functionIds[name]);
    },
  );

  it('the page lists every function with its constructor id', () => {
    const page = readFileSync(join(projectRoot, 'service/liteserver/README.md'), 'utf8');
    const listed = [...page.matchAll(/^\| ([\w.]+) \| ([\da-f]{8})(?: \(explicit\))? \|/gm)];
    const expected = Object.fromEntries(liteServerFunctions.map((fn) => [fn.name, hex(fn.id)]));
    expect(Object.fromEntries(listed.map(([, name, id]) => [name, id]))).toEqual(expected);
  });

  it('every documented function has a constructor id', () => {
    expect(liteServerFunctions.map((fn) => fn.name).toSorted()).toEqual(Object.keys(functionIds).toSorted());
  });

  it('the constructor ids of types are documented', () => {
    const expected = { ...typeIds, ...unionIds };
    const found = Object.fromEntries(
      records.filter(({ name }) => name in expected).map(({ name, id }) => [name, hex(id)]),
    );
    expect(found).toEqual(expected);
  });

  it('constructor ids are the CRC-32 of the declarations, except the explicit ones', () => {
    const computed = [...records, ...liteServerFunctions.map((fn) => ({ ...fn, name: `liteServer.${fn.name}` }))];
    const exceptions = computed.filter(({ id, declaration }) => crc32(declaration) !== id).map(({ name }) => name);
    expect(exceptions.toSorted()).toEqual(explicitIds);
  });
});

describe('declarations', () => {
  it('declarations spell the fields as the schema does, conditions included', () => {
    expect(liteServerFunctions.find((fn) => fn.name === 'listBlockTransactions')?.declaration).toBe(
      'liteServer.listBlockTransactions id:tonNode.blockIdExt mode:# count:# after:mode.7?liteServer.transactionId3 ' +
        'reverse_order:mode.6?true want_proof:mode.5?true = liteServer.BlockTransactions',
    );
    expect(api.transactionId.declaration).toBe(
      'liteServer.transactionId mode:# account:mode.0?int256 lt:mode.1?long hash:mode.2?int256 ' +
        'metadata:mode.8?liteServer.transactionMetadata = liteServer.TransactionId',
    );
  });
});
