import { describe, expect, test } from 'vitest';

import { blockOperations } from '#service/v2/blocks.ts';
import { configurationOperations } from '#service/v2/configuration.ts';
import { bodySource, querySource } from '#service/contract/parameter.ts';
import { within } from '../pool/network.ts';
import { bytes32, scriptAccounts } from './scripted-accounts.ts';
import { scriptBlocks } from './scripted-blocks.ts';
import { scriptConfiguration } from './scripted-configuration.ts';

type Fields = Readonly<Record<string, unknown>>;

const full = '-9223372036854775808';
const place = { workchain: '-1', shard: full };
const livePlace = { workchain: -1, shard: 0x8000000000000000n };
const [one, two] = [bytes32(1), bytes32(0xff)];

/** What is asked of the live layer by one operation; or the message that the caller gets. */
async function asked(name: string, source: ReturnType<typeof bodySource>): Promise<unknown> {
  const blocks = scriptBlocks();
  const configuration = scriptConfiguration();
  const operations = [...blockOperations(scriptAccounts(), blocks), ...configurationOperations(configuration)];
  const operation = operations.find((candidate) => candidate.name === name)!;
  try {
    await operation.run(source, within(1_000));
    return [...blocks.asked, ...configuration.asked][0];
  } catch (error) {
    return (error as Error).message;
  }
}

const inBody = (name: string, fields: Fields) => asked(name, bodySource(fields));
const inQuery = (name: string, query: string) => asked(name, querySource(new URLSearchParams(query)));
const queryOf = (fields: Fields) =>
  new URLSearchParams(Object.entries(fields).map(([key, value]) => [key, String(value)]));

describe('what is asked of blocks', () => {
  test.each<[name: string, fields: Fields, expected: unknown]>([
    ['lookupBlock', { ...place, seqno: '7' }, ['findBlock', livePlace, { by: 'seqno', seqno: 7 }]],
    ['lookupBlock', { ...place, lt: '0' }, ['findBlock', livePlace, { by: 'lt', lt: 0n }]],
    ['lookupBlock', { ...place, unixtime: '0' }, ['findBlock', livePlace, { by: 'utime', utime: 0 }]],
    ['lookupBlock', { ...place, unixtime: '4294967295' }, ['findBlock', livePlace, { by: 'utime', utime: 4294967295 }]],
    ['lookupBlock', place, 'exactly one of seqno, lt, unixtime should be specified'],
    ['lookupBlock', { ...place, seqno: 1, lt: 1 }, 'exactly one of seqno, lt, unixtime should be specified'],
    ['lookupBlock', { ...place, lt: 1, unixtime: 1 }, 'exactly one of seqno, lt, unixtime should be specified'],
    ['lookupBlock', { ...place, seqno: 0, lt: 1 }, 'seqno should be positive'],
    ['lookupBlock', { ...place, lt: -1 }, 'lt should be non-negative'],
    ['lookupBlock', { ...place, lt: 'x' }, 'failed to parse lt'],
    ['lookupBlock', { ...place, unixtime: -1 }, 'unixtime should be non-negative'],
    ['lookupBlock', { ...place, unixtime: '4294967296' }, 'failed to parse unixtime'],
    ['lookupBlock', { shard: full, seqno: 1 }, 'workchain required'],
    ['lookupBlock', { ...place, workchain: 'w', seqno: 1 }, 'failed to parse workchain'],
    ['lookupBlock', { workchain: 0, seqno: 1 }, 'shard required'],
    ['lookupBlock', { ...place, shard: '8000000000000000x', seqno: 1 }, 'failed to parse shard'],
    ['getBlockHeader', { ...place, seqno: 5 }, ['findBlock', { ...livePlace, seqno: 5 }, { by: 'seqno', seqno: 5 }]],
    [
      'getBlockHeader',
      { ...place, seqno: 5, root_hash: one.toString('hex'), file_hash: two.toString('base64url') },
      ['readHeader', { ...livePlace, seqno: 5, rootHash: one, fileHash: two }],
    ],
    [
      'getBlockHeader',
      { ...place, seqno: 5, root_hash: one.toString('hex'), file_hash: '' },
      ['findBlock', { ...livePlace, seqno: 5 }, { by: 'seqno', seqno: 5 }],
    ],
    ['getBlockHeader', { ...place, seqno: 5, root_hash: 'x' }, 'failed to parse root_hash'],
    ['getBlockHeader', { ...place, seqno: 5, file_hash: 'x' }, 'failed to parse file_hash'],
    ['getBlockHeader', place, 'seqno required'],
    ['getShardBlockProof', { ...place, seqno: 5, from_seqno: -1 }, 'from_seqno should be non-negative'],
    ['getShardBlockProof', { ...place, seqno: 5, from_seqno: 'x' }, 'failed to parse from_seqno'],
    ['getShards', {}, 'seqno required'],
    ['getMasterchainBlockSignatures', { seqno: '0' }, 'seqno should be positive'],
    ['getMasterchainBlockSignatures', { seqno: '9' }, ['readSignatures', 9]],
  ])('by %s with %j', async (name, fields, expected) => {
    expect(await inBody(name, fields)).toEqual(expected);
    expect(await asked(name, querySource(queryOf(fields)))).toEqual(expected);
  });

  test('by getShardBlockProof from a block or from the newest', async () => {
    const target = { ...livePlace, seqno: 5, fromSeqno: 0 };
    expect(await inBody('getShardBlockProof', { ...place, seqno: 5, from_seqno: 0 })).toEqual([
      'readShardBlockProof',
      target,
      5,
      0,
    ]);
    expect(await inBody('getShardBlockProof', { ...place, seqno: 5, from_seqno: null })).toEqual([
      'readShardBlockProof',
      { ...target, fromSeqno: undefined },
      5,
      undefined,
    ]);
  });
});

const oneName = 'only one of config_id or param should be specified';

describe('what is asked of the configuration', () => {
  test.each<[query: string, expected: unknown]>([
    ['config_id=34', ['readParam', 34, undefined]],
    ['param=34&seqno=7', ['readParam', 34, 7]],
    ['config_id=0&param=5', ['readParam', 0, undefined]],
    ['', oneName],
    ['config_id=-1', 'param should be non-negative'],
    ['param=-1', 'param should be non-negative'],
    ['config_id=x', 'failed to parse config_id'],
    ['param=x', 'failed to parse param'],
  ])('by a query with %j', async (query, expected) => {
    expect(await inQuery('getConfigParam', query)).toEqual(expected);
  });

  test.each<[fields: Fields, expected: unknown]>([
    [{ config_id: 34 }, ['readParam', 34, undefined]],
    [{ param: '34', config_id: null }, ['readParam', 34, undefined]],
    [{ param: 34, config_id: 34 }, oneName],
    [{}, oneName],
    [{ param: -77 }, 'param should be non-negative'],
  ])('by a body with %j', async (fields, expected) => {
    expect(await inBody('getConfigParam', fields)).toEqual(expected);
  });

  test('by libraries, which a query repeats', async () => {
    const query = `libraries=${one.toString('hex')}&libraries=&libraries=${two.toString('base64').replaceAll('+', ' ')}`;
    expect(await inQuery('getLibraries', query)).toEqual(['readLibraries', [one, two]]);
    expect(await inQuery('getLibraries', '')).toEqual(['readLibraries', []]);
    expect(await inBody('getLibraries', { libraries: [one.toString('base64')] })).toEqual(['readLibraries', [one]]);
    expect(await inBody('getLibraries', { libraries: null })).toEqual(['readLibraries', []]);
  });

  test.each<Fields>([{ libraries: 'ff' }, { libraries: ['ff'] }, { libraries: [7] }, { libraries: [null] }])(
    'by libraries that are none: %j',
    async (fields) => {
      expect(await inBody('getLibraries', fields)).toBe('failed to parse libraries');
    },
  );
});
