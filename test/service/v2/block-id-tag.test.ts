import { describe, expect, test } from 'vitest';

import { describeV2 } from '#service/http/openapi.ts';
import { tagBlockIds } from '#service/v2/block-id-tag.ts';
import { blockOperations } from '#service/v2/blocks.ts';
import { bodySource } from '#service/contract/parameter.ts';
import type { Operation } from '#service/contract/operation.ts';
import { createV2, type V2Dependencies } from '#service/v2/v2.ts';
import { within } from '../pool/network.ts';
import { scriptAccounts } from './scripted-accounts.ts';
import { scriptBlocks } from './scripted-blocks.ts';

const operations = blockOperations(scriptAccounts(), scriptBlocks());
const source = bodySource({ workchain: 0, shard: '-9223372036854775808', seqno: 7 });

async function textOf(operation: Operation): Promise<string> {
  return JSON.stringify((await operation.run(source, within(1_000))).value);
}

describe('block ids', () => {
  test.each(operations.map((operation) => [operation.name, operation] as const))(
    'of %s are named as the manifest says, and nothing else changes',
    async (_name, operation) => {
      const tagged = tagBlockIds(operation, 'chain.blockIdExt');
      const [before, after] = [await textOf(operation), await textOf(tagged)];
      expect(after).toBe(before.replaceAll('"@type":"ton.blockIdExt"', '"@type":"chain.blockIdExt"'));
      expect(after.includes('chain.blockIdExt')).toBe(operation.name !== 'getConsensusBlock');
    },
  );

  test('are as they are written by default', () => {
    for (const operation of operations) expect(tagBlockIds(operation, 'ton.blockIdExt')).toBe(operation);
  });

  test('are described as they are named', () => {
    const tagged = operations.map((operation) => tagBlockIds(operation, 'chain.blockIdExt'));
    const document = describeV2({ version: '2.2.0', operations: tagged, find: () => undefined });
    const { schemas } = document['components'] as { schemas: Record<string, unknown> };
    expect(schemas['BlockIdTag']).toEqual({ const: 'chain.blockIdExt' });
  });

  test('are named so by every operation of the table', async () => {
    // The other families are not asked.
    const dependencies = { accounts: scriptAccounts(), blocks: scriptBlocks() } as Partial<V2Dependencies>;
    const v2 = createV2({ release: 0, blockIdTag: 'chain.blockIdExt' }, dependencies as V2Dependencies);
    expect(await textOf(v2.find('shards')!)).toContain('"@type":"chain.blockIdExt"');
    const named = v2.operations.filter(({ result }) => result.definitions.has('BlockIdTag'));
    expect(named.length).toBeGreaterThan(10);
    for (const { name, result } of named) {
      expect({ name, tag: result.definitions.get('BlockIdTag') }).toEqual({ name, tag: { const: 'chain.blockIdExt' } });
    }
  });

  test('beside integers beyond doubles leave those as they are', async () => {
    const rawJSON = JSON as unknown as { rawJSON(text: string): unknown };
    const [operation] = operations;
    const value = { '@type': 'ton.blockIdExt', exact: rawJSON.rawJSON('9223372036854775807'), list: [null, 1] };
    const tagged = tagBlockIds(
      { ...operation!, run: async () => ({ value, liteServers: [], cached: true }) },
      'chain.blockIdExt',
    );
    expect(await textOf(tagged)).toBe('{"@type":"chain.blockIdExt","exact":9223372036854775807,"list":[null,1]}');
  });
});
