import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { readOutMsgQueueInfo } from '#service/decode/tlb/out-msg-queue-info.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import type { LiteServerError } from '#service/liteserver/errors.ts';
import type { LiveBlocks } from '#service/live/blocks/blocks.ts';
import { createBlockFinder } from '#service/live/blocks/block-finder.ts';
import type { Head } from '#service/pool/head.ts';
import { createLiveBlocks } from '#service/live/blocks/live-blocks.ts';
import type { BlockSearch } from '#service/proof/lookup-proof.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import type { SignatureChecker } from '#service/proof/signature-checker.ts';
import { viewBlockHeader, viewBlockSignatures, viewShardBlockProof, viewShards } from '#service/v2/block-views.ts';
import { viewBlockId } from '#service/v2/views.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { openPool, patientTuning, until, within } from '#test/service/pool/network.ts';
import type { PoolUnderTest } from '#test/service/pool/network.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

type BlockView = ReturnType<typeof viewBlockId>;
type Exchange = {
  readonly note: string;
  readonly request: {
    readonly '@type': string;
    readonly id: BlockView;
    readonly seqno: number;
    readonly mode: number;
    readonly lt: string;
    readonly utime: number;
    readonly from?: BlockView;
  };
  readonly response: Record<string, unknown>;
};

function place({ workchain, shard }: BlockView): { workchain: number; shard: bigint } {
  return { workchain, shard: BigInt.asUintN(64, BigInt(shard)) };
}

function fullId(id: BlockView): BlockId {
  return {
    ...place(id),
    seqno: id.seqno,
    rootHash: Buffer.from(id.root_hash, 'base64'),
    fileHash: Buffer.from(id.file_hash, 'base64'),
  };
}

const recordings = recordingDirs().map((dir) => ({ dir, name: dir.split('/').at(-1)! }));
skipLoudly(recordings.length === 0, { what: 'live blocks', why: 'no recorded network among the fixtures' });

describe.each(recordings)('blocks of the recorded network $name', ({ dir }) => {
  const exchanges = readFileSync(join(dir, 'tonlib.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Exchange);
  let network: Devchain;
  let open: PoolUnderTest;
  let signatures: SignatureChecker;
  let live: LiveBlocks;

  beforeAll(async () => {
    network = await createDevchain(
      { recordingDir: dir, paceSeconds: 0, servers: [{}, {}] },
      { logger: pino({ level: 'silent' }), register: new Registry(), chain: await recordedChain(dir) },
    );
    open = openPool(network, { tuning: patientTuning });
    signatures = createSignatureChecker({}, { register: new Registry(), logger: pino({ level: 'silent' }) });
    live = createLiveBlocks({ pool: open.pool, signatures, toUnixMs: (poolMs) => performance.timeOrigin + poolMs });
    await until(() => open.pool.head()?.block.seqno === network.chain.lastSeqno);
  });

  afterAll(async () => {
    await open.close();
    await signatures.close();
    await network.close();
  });

  /** Recorded exchanges of one kind that are about blocks of the recording: the node's head was beyond it. */
  function recorded(type: string): Exchange[] {
    const found = exchanges.filter(
      ({ request, response }) => request['@type'] === type && isHeld(request) && isHeld({ id: response }),
    );
    expect(found.length).toBeGreaterThan(0);
    return found;
  }

  /** A whole block id is one of the recording, a masterchain seqno not above its last. */
  function isHeld({ id, seqno = 0 }: { readonly id?: object; readonly seqno?: number }): boolean {
    if (id === undefined || !('root_hash' in id)) return seqno <= network.chain.lastSeqno;
    return network.chain.find(fullId(id as BlockView)) !== undefined;
  }

  test("tonlib's headers, field by field, by full id and by seqno", async () => {
    for (const { request, response } of recorded('blocks.getBlockHeader')) {
      const expected = Object.fromEntries(
        Object.entries(response).filter(([name]) => name !== 'flags' && name !== 'vert_seqno'),
      );
      const byId = await live.readHeader(fullId(request.id), within(60_000));
      const search = { by: 'seqno', seqno: request.id.seqno } as const;
      const bySeqno = await live.findBlock(place(request.id), search, within(60_000));
      expect(viewBlockHeader(byId.value)).toEqual(expected);
      expect(viewBlockHeader(bySeqno.value)).toEqual(expected);
    }
  });

  /** What tonlib answered; block 1 of the path for what its node's index has the zerostate for. */
  function expectedLookup({ request, response }: Exchange): object {
    if (response['@type'] !== 'error') return response;
    const isZeroState = request.mode !== 1 && response['message'] === 'LITE_SERVER_NOTREADY: not in db';
    const { workchain, shard } = place(request.id);
    return isZeroState ? viewBlockId(network.chain.along(workchain, shard)[0]!.id) : { serverCode: 651 };
  }

  test("tonlib's lookups, and block 1 where its node knew none", async () => {
    for (const exchange of recorded('blocks.lookupBlock')) {
      const { mode, id, lt, utime } = exchange.request;
      const search: BlockSearch =
        mode === 1
          ? { by: 'seqno', seqno: id.seqno }
          : mode === 2
            ? { by: 'lt', lt: BigInt(lt) }
            : { by: 'utime', utime };
      const found = await live.findBlock(place(id), search, within(60_000)).then(
        ({ value }) => viewBlockId(value.id) as object,
        ({ data }: LiteServerError) => ({ serverCode: data.serverCode }),
      );
      expect({ ...exchange, found }).toEqual({ ...exchange, found: expectedLookup(exchange) });
    }
  });

  test("tonlib's lists of shards", async () => {
    for (const { request, response } of recorded('blocks.getShards')) {
      const { value } = await live.readShards(request.id.seqno, within(60_000));
      expect(viewShards(value)).toEqual(response);
    }
  });

  test("tonlib's signatures, and those of block 1, which it has none of", async () => {
    for (const { request, response } of recorded('blocks.getMasterchainBlockSignatures')) {
      const { value } = await live.readSignatures(request.seqno, within(60_000));
      expect(viewBlockSignatures(value)).toEqual(response);
    }
    const { value } = await live.readSignatures(1, within(60_000));
    expect(value.id).toEqual(network.chain.masterchain(1)!.id);
    expect(value.signatures).toEqual(network.chain.signatures(1));
  });

  test("tonlib's proofs of shard blocks", async () => {
    for (const { request, response } of recorded('blocks.getShardBlockProof')) {
      const from = (response['from'] as BlockView).seqno;
      const fromSeqno = Math.min(from, network.chain.lastSeqno);
      const proof = await live.readShardBlockProof(place(request.id), request.id.seqno, fromSeqno, within(60_000));
      // The node's head was beyond the recording: the way back from there is longer.
      const fromHead = { from: viewBlockId(proof.value.from), mc_proof: expect.anything() as unknown };
      const expected = from === fromSeqno ? response : { ...response, ...fromHead };
      expect(viewShardBlockProof(proof.value)).toEqual(expected);
    }
  });

  test('a proof that shall start before the shard block was taken in is refused as tonlib does', async () => {
    const { id } = recorded('blocks.getShardBlockProof')[0]!.request;
    for (const fromSeqno of [0, 1]) {
      const proof = live.readShardBlockProof(place(id), id.seqno, fromSeqno, within(60_000));
      await expect(proof).rejects.toMatchObject({ code: 'from_too_old', message: 'from mc block is too old' });
    }
  });

  test('a masterchain block needs no links, and no link back to itself', async () => {
    const { id } = network.chain.masterchain(7)!;
    const { value } = await live.readShardBlockProof(id, 7, 7, within(60_000));
    expect(value).toEqual({ from: id, masterchainBlock: id, links: [], masterchainLink: undefined });
  });

  test('queue sizes as the states count them, the masterchain first', async () => {
    const { value } = await live.readQueueSizes(within(60_000));
    const head = network.head();
    expect(value.shards.map(({ id }) => id)).toEqual([head.id, ...head.shards.map(({ block }) => block)]);
    const { states } = network.chain;
    for (const { id, size } of value.shards) {
      const { outMsgQueueInfo } = readShardState(states, network.chain.find(id)!.state);
      const { queue } = readOutMsgQueueInfo(states, outMsgQueueInfo);
      let messages = 0n;
      walkHashmap(states, queue, 352, () => void messages++, { readExtra: (slice) => slice.skip(64) });
      expect(size).toBe(messages);
    }
    expect(value.externalsLimit).toBe(8_000);
    expect((await live.readQueueSizes(within(60_000))).cached).toBe(true);
  });

  test('the consensus is the head when all lite servers have it, since a moment ago', async () => {
    const { value } = await live.readConsensusBlock(within(60_000));
    expect(value.seqno).toBe(network.chain.lastSeqno);
    expect(Math.abs(value.sinceUtime - Date.now() / 1_000)).toBeLessThan(60);
  });

  test('what was found once is found again without a question', async () => {
    const shard = network.chain.masterchain(500)!.shards[0]!.block;
    const ask = () => live.findBlock(shard, { by: 'seqno', seqno: shard.seqno }, within(60_000));
    const found = await ask();
    expect(found.value.id).toEqual(shard);
    expect(await ask()).toEqual({ value: found.value, liteServers: [], cached: true });
  });

  test('a block that came after the served head is found and proved apart', async () => {
    const served = network.chain.masterchain(500)!;
    const head = () => ({ ...open.pool.head()!, block: served.id });
    const headFor = (): Promise<Head> => Promise.resolve(head());
    const late = createBlockFinder({ pool: { ...open.pool, head, headFor } });
    const later = network.chain.masterchain(700)!;
    for (const { id } of [later, network.chain.find(later.shards[0]!.block)!]) {
      const { value } = await late.findBlock(id, { by: 'seqno', seqno: id.seqno }, within(60_000));
      expect(value.id).toEqual(id);
    }
    const byLt = late.findBlock(later.id, { by: 'lt', lt: later.header.endLt }, within(60_000));
    await expect(byLt).rejects.toMatchObject({ code: 'lagging' });
  });

  test('a block that is not there is error 651 of the lite server', async () => {
    const missing = { workchain: 0, shard: 0x8000000000000000n };
    for (const search of [
      { by: 'seqno', seqno: 2 ** 31 - 1 },
      { by: 'lt', lt: 2n ** 62n },
      { by: 'utime', utime: 2 ** 31 - 1 },
    ] as const) {
      const finding = live.findBlock(missing, search, within(60_000));
      await expect(finding).rejects.toMatchObject({ data: { serverCode: 651 } });
    }
  });
});
