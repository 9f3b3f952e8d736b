import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import TonWeb from 'tonweb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { recordingDirs } from '#test/support/fixtures.ts';

/** Its types describe a module with a default export, its code is the class itself. */
const tonweb = TonWeb as unknown as typeof TonWeb.default;

const [recordingDir = ''] = recordingDirs();
const accounts = JSON.parse(readFileSync(join(recordingDir, 'accounts.json'), 'utf8')) as Record<
  string,
  { address: string }
>;
const [{ address } = { address: '' }] = Object.values(accounts);

describe('a service whose manifest has api.v2', () => {
  let service: ApiUnderTest;
  let seqno = 0;
  beforeAll(async () => {
    service = await startApiUnderTest({ v2: { blockIdTag: 'chain.blockIdExt', legacyOperations: true } });
    seqno = service.api.pool.head()!.block.seqno;
  });
  afterAll(() => service.close());

  it.each([
    ['getMasterchainInfo', {}],
    ['getAddressInformation', { address }],
    ['getExtendedAddressInformation', { address }],
    ['shards', {}],
    ['getBlockHeader', { workchain: -1, shard: '-9223372036854775808' }],
    ['lookupBlock', { workchain: -1, shard: '-9223372036854775808' }],
    ['getBlockTransactions', { workchain: -1, shard: '-9223372036854775808' }],
    ['getMasterchainBlockSignatures', {}],
    ['getOutMsgQueueSize', {}],
    ['runGetMethod', { address, method: 'seqno', stack: [] }],
  ])('names block ids in %s as the manifest says, the first time and from a cache', async (operation, params) => {
    for (let time = 0; time < 2; time++) {
      const alone = await service.post(operation, { ...params, seqno });
      const call = { id: 1, method: operation, params: { ...params, seqno } };
      const rpc = await service.post('jsonRPC', call);
      for (const { status, body } of [alone, rpc]) {
        expect(status).toBe(200);
        expect(JSON.stringify(body)).toContain('"@type":"chain.blockIdExt"');
        expect(JSON.stringify(body)).not.toContain('ton.blockIdExt');
      }
      expect(rpc.body['result']).toEqual(alone.body['result']);
    }
  });

  it('the document of v2 shows the settings of api.v2', async () => {
    const document = await (await fetch(`${service.api.url}/api/v2/openapi.json`)).text();
    expect(document).toContain('chain.blockIdExt');
    expect(document).not.toContain('ton.blockIdExt');
  });

  it('takes what tonweb sends to the old service', async () => {
    const provider = new tonweb.HttpProvider(`${service.api.url}/api/v2/jsonRPC`, { apiKey: service.key });
    const query = { address, body: { data: { b64: 'AAAAAQ==', len: 32 }, refs: [] } };
    expect(await provider.sendQuery(query)).toEqual({ '@type': 'ok' });
    await expect(provider.sendQuery({ address, body: {} })).rejects.toBe('Error while parsing cell object');
  });

  it('serves the operations of the old service, over lite servers', async () => {
    const body = 'te6cckEBAQEAAgAAAEysuc0=';
    const simple = { data: { b64: '', len: 0 }, refs: [] };
    const fees = await service.post('estimateFee', { address, body });
    expect(fees.status).toBe(200);
    expect((await service.post('estimateFeeSimple', { address, body: simple })).body['result']).toEqual(
      fees.body['result'],
    );
    const refused = expect.stringMatching(/^LITE_SERVER_UNKNOWN: cannot apply external message/) as unknown;
    const absent = `0:${'17'.repeat(32)}`;
    for (const [operation, written] of [
      ['sendQuery', body],
      ['sendQuerySimple', simple],
    ] as const) {
      const taken = await service.post(operation, { address, body: written });
      expect([operation, taken.status, taken.body['result']]).toEqual([operation, 200, { '@type': 'ok' }]);
      const answer = await service.post(operation, { address: absent, body: written });
      expect([operation, answer.status, answer.body['error']]).toEqual([operation, 500, refused]);
    }
  });
});
