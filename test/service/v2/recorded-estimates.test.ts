import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { estimateFees } from '#service/tvm/fees.ts';
import {
  accountAt,
  bocOf,
  configAfter,
  librariesAfter,
  previousBlocksOf,
  readRecords,
  startTvm,
} from '#test/service/tvm/recorded-world.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { ask } from '#test/support/v2-call-styles.ts';

// Every message whose fees the recorded node's library estimated, asked of the whole service over HTTP at the recording's end. The
// recording does not say on which state each was made (test/service/tvm/recorded-fees.test.ts finds it): what depends on the state is
// compared with the estimate on the rebuilt state, the rest with the recording.

type Fees = { in_fwd_fee: number; storage_fee: number; gas_fee: number; fwd_fee: number };
type FeesRecord = {
  note: string;
  request: {
    '@type': string;
    address: string;
    body: string;
    init_code: string;
    init_data: string;
    ignore_chksig: boolean;
  };
  response: { '@type': string; source_fees: Fees };
};

const [folder] = recordingDirs();
const records = (await readRecords<FeesRecord>(join(folder ?? '', 'tonlib.jsonl'))).filter(
  ({ request, response }) => request['@type'].endsWith('estimateFees') && response['@type'] === 'query.fees',
);
const none = skipLoudly(records.length === 0, { what: 'recorded fees over HTTP', why: 'no estimates in tonlib.jsonl' });

describe.skipIf(none)('fees over HTTP', () => {
  const { tvm } = startTvm();
  let service: ApiUnderTest;
  beforeAll(async () => {
    service = await startApiUnderTest({ behindBlocks: 0 });
  });
  afterAll(async () => {
    await tvm.close();
    await service.close();
  });

  async function estimate(request: FeesRecord['request']): Promise<Fees> {
    const { chain } = service.network;
    const [workchain, id] = request.address.split(':');
    const address = { workchain: Number(workchain), id: Buffer.from(id!, 'hex') };
    const { block, cell } = accountAt(chain, chain.lastSeqno, address);
    const head = chain.masterchain(chain.lastSeqno)!;
    const fees = await estimateFees(tvm, {
      address,
      account: bocOf(chain, cell),
      body: Buffer.from(request.body, 'base64'),
      initCode: bagOf(request.init_code),
      initData: bagOf(request.init_data),
      ignoreSignature: request.ignore_chksig,
      config: configAfter(chain, head),
      previousBlocks: previousBlocksOf(chain, chain.lastSeqno),
      utime: block.header.utime,
      randSeed: Buffer.alloc(32),
      fetchLibrary: librariesAfter(chain, head),
    });
    return {
      in_fwd_fee: Number(fees.inForwardFee),
      storage_fee: Number(fees.storageFee),
      gas_fee: Number(fees.gasFee),
      fwd_fee: Number(fees.forwardFee),
    };
  }

  it.each(records)('$note, ignore_chksig $request.ignore_chksig', async ({ request, response }) => {
    const { '@type': _, ...params } = request;
    const expected = {
      '@type': 'query.fees',
      source_fees: { '@type': 'fees', ...(await estimate(request)), in_fwd_fee: response.source_fees.in_fwd_fee },
      destination_fees: [],
    };
    for (const way of ['POST', 'JSON-RPC'] as const) {
      const { body } = await ask({ url: service.api.url, key: service.key }, way, 'estimateFee', params);
      expect(body).toMatchObject({ ok: true, result: expected });
    }
  });

  it('signatures count as good and nothing is deployed when the request says no more', async () => {
    const { address, body } = records.find(({ request }) => request.init_code === '')!.request;
    const asked = (params: object) =>
      ask({ url: service.api.url, key: service.key }, 'POST', 'estimateFee', { address, body, ...params });
    const [bare, spelled] = await Promise.all([
      asked({}),
      asked({ init_code: '', init_data: null, ignore_chksig: true }),
    ]);
    expect(bare.status).toBe(200);
    expect(bare.body['result']).toEqual(spelled.body['result']);
  });
});

function bagOf(base64: string): Buffer | null {
  return base64 === '' ? null : Buffer.from(base64, 'base64');
}
