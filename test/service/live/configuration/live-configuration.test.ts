import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { readShardState, readShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import type { LiveConfiguration } from '#service/live/configuration/configuration.ts';
import { createLiveConfiguration } from '#service/live/configuration/live-configuration.ts';
import { viewConfig, viewLibraries } from '#service/v2/configuration.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { metric, openPool, patientTuning, until, within } from '#test/service/pool/network.ts';
import type { PoolUnderTest } from '#test/service/pool/network.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

type Exchange = {
  readonly request: {
    readonly '@type': string;
    readonly id?: { readonly seqno: number };
    readonly function?: { readonly '@type': string; readonly mode: number; readonly param: number };
    readonly library_list?: readonly string[];
  };
  readonly response: { readonly '@type': string };
};

const recordings = recordingDirs().map((dir) => ({ dir, name: dir.split('/').at(-1)! }));
skipLoudly(recordings.length === 0, { what: 'live configuration', why: 'no recorded network among the fixtures' });

describe.each(recordings)('the configuration of the recorded network $name', ({ dir }) => {
  const exchanges = readFileSync(join(dir, 'tonlib.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Exchange);
  let network: Devchain;
  let open: PoolUnderTest;
  let live: LiveConfiguration;

  beforeAll(async () => {
    network = await createDevchain(
      { recordingDir: dir, paceSeconds: 0, servers: [{}, {}] },
      { logger: pino({ level: 'silent' }), register: new Registry(), chain: await recordedChain(dir) },
    );
    open = openPool(network, { tuning: patientTuning });
    live = createLiveConfiguration({ pool: open.pool });
    await until(() => open.pool.head()?.block.seqno === network.chain.lastSeqno);
  });

  afterAll(async () => {
    await open.close();
    await network.close();
  });

  /** Questions about a block of one kind. */
  function recorded(type: string): { seqno: number; param: number; response: object }[] {
    const found = exchanges.filter(
      ({ request, response }) =>
        request.function?.['@type'] === type &&
        request.function.mode === 0 &&
        request.id!.seqno <= network.chain.lastSeqno &&
        response['@type'] === 'configInfo',
    );
    expect(found.length).toBeGreaterThan(0);
    return found.map(({ request, response }) => ({
      seqno: request.id!.seqno,
      param: request.function!.param,
      response,
    }));
  }

  test("tonlib's parameters, byte for byte", async () => {
    for (const { seqno, param, response } of recorded('getConfigParam')) {
      const { value } = await live.readParam(param, seqno, within(60_000));
      expect({ param, config: viewConfig(value) }).toEqual({ param, config: response });
    }
  });

  test("tonlib's whole configuration, byte for byte", async () => {
    for (const { seqno, response } of recorded('getConfigAll')) {
      const { value } = await live.readAll(seqno, within(60_000));
      expect(viewConfig(value)).toEqual(response);
    }
  });

  test("tonlib's libraries", async () => {
    const asked = exchanges.filter(({ request }) => request['@type'] === 'smc.getLibraries');
    expect(asked.length).toBeGreaterThan(0);
    for (const { request, response } of asked) {
      const hashes = request.library_list!.map((hash) => Buffer.from(hash, 'base64'));
      const { value } = await live.readLibraries(hashes, within(60_000));
      expect(viewLibraries(value)).toEqual(response);
    }
  });

  test('a parameter that is not set is null, also of negative number', async () => {
    for (const param of [2 ** 31 - 1, -77]) {
      expect((await live.readParam(param, undefined, within(60_000))).value).toBeNull();
    }
  });

  test('a parameter is asked for once for each key block, and changes with it', async () => {
    const keyBlocks = Array.from({ length: network.chain.lastSeqno }, (_, index) => index + 1).filter(
      (seqno) => network.chain.masterchain(seqno)!.header.keyBlock,
    );
    const [key] = keyBlocks;
    const read = (seqno: number) => live.readAll(seqno, within(60_000));
    const [before, at] = [await read(key! - 1), await read(key!)];
    expect(at.value.equals(before.value)).toBe(false);
    expect((await read(key! + 1)).value).toEqual(at.value);
    await live.readParam(0, undefined, within(60_000));
    const queries = await metric(open.register, 'ton_pool_attempts_total');
    expect(await live.readParam(0, undefined, within(60_000))).toMatchObject({ liteServers: [], cached: true });
    expect(await live.readParam(0, network.chain.lastSeqno, within(60_000))).toMatchObject({ cached: true });
    expect(await metric(open.register, 'ton_pool_attempts_total')).toBe(queries);
  });

  /** Hashes of the libraries that the last state holds. */
  function publicLibraries(): Buffer[] {
    const { states } = network.chain;
    const { libraries } = readShardStateDetails(states, readShardState(states, network.head().state).details);
    const hashes: Buffer[] = [];
    walkHashmap(states, libraries, 256, (hash) => void hashes.push(hash));
    expect(hashes.length).toBeGreaterThan(0);
    return hashes;
  }

  test('libraries come by hash, each once, without those that do not exist', async () => {
    const hashes = publicLibraries();
    const unknown = Buffer.alloc(32, 7);
    const { value } = await live.readLibraries([...hashes, unknown, ...hashes].toReversed(), within(60_000));
    expect(value.map(({ hash }) => hash)).toEqual(hashes.toSorted((a, b) => Buffer.compare(a, b)));
    for (const { hash, data } of value) {
      const library = parseBoc(data);
      expect(library.hash(library.roots[0]!)).toEqual(hash);
    }
  });

  test('no libraries are no question, and more than 16 are refused in the words of tonlib', async () => {
    expect(await live.readLibraries([], within(60_000))).toEqual({ value: [], liteServers: [], cached: false });
    const many = Array.from({ length: 17 }, (_, index) => Buffer.alloc(32, index));
    await expect(live.readLibraries(many, within(60_000))).rejects.toMatchObject({
      code: 'too_many_libraries',
      message: 'INVALID_FIELD: Field library_list has invalid value : too many libraries requested, 16 maximum',
    });
    expect((await live.readLibraries(many.slice(1), within(60_000))).value).toEqual([]);
  });

  test('a seqno that is not there is error 651 of the lite server', async () => {
    for (const read of [live.readParam(0, 2 ** 31 - 1, within(60_000)), live.readAll(2 ** 31 - 1, within(60_000))]) {
      await expect(read).rejects.toMatchObject({ data: { serverCode: 651 } });
    }
  });
});
