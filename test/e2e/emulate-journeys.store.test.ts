import { Address, Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Reply } from '#test/service/http/requests.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { createDraw, oneOf } from '#test/support/draw.ts';
import { openEmulateClient, type EmulateClient } from '#test/support/emulate-client.ts';
import { differencesOf, type ComparedTrace } from '#test/support/emulated-and-real.ts';
import {
  journeys,
  versions,
  type Journey,
  type JourneyScene,
  type JourneyWallet,
} from '#test/support/emulated-journeys.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { putAccount } from '#test/support/put-account.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { countOf } from '#test/support/volume.ts';
import { wholeTrace } from '#test/support/whole-trace.ts';

const kinds = Object.keys(journeys);

/** Besides each kind once. */
const randomJourneys = countOf({ quick: 5, full: 60, long: 200 });
const SEED = 20_261_127;

/** 255 messages may take longer than the deadline of a request when the machine is busy. */
const PATIENT_MS = 120_000;

let forked: ForkedNetwork;
let index: StoreUnderTest;
let service: Omit<ApiUnderTest, 'network'>;
let client: EmulateClient;
let scene: JourneyScene;

beforeAll(async () => {
  forked = await startForkedNetwork();
  const { network } = forked;
  const edits = Object.values(versions).map(({ address, init }) =>
    putAccount({ workchain: address.workChain, id: address.hash }, init!),
  );
  await network.step(edits);
  index = await createMigratedStore(import.meta.filename);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  service = await startApiOver(over, { postgresUrl: index.url, writesIndex: true, requestTimeoutMs: PATIENT_MS });
  client = await openEmulateClient(service);
  scene = { ...forked, versions, ownerOf, nextOrder };
});
afterAll(async () => {
  await service.close();
  await index.close();
});

async function runMethod(address: Address, method: string): Promise<readonly (readonly [string, unknown])[]> {
  const { body } = await service.post('runGetMethod', { address: address.toRawString(), method, stack: [] });
  return (body['result'] as { stack: readonly (readonly [string, unknown])[] }).stack;
}

async function ownerOf(item: Address): Promise<Address> {
  const { body } = await service.get(`getTokenData?address=${item.toRawString()}`);
  return Address.parse((body['result'] as { owner_address: string }).owner_address);
}

async function nextOrder(): Promise<bigint> {
  const [next] = await runMethod(forked.address('multisig'), 'get_multisig_data');
  return BigInt(next![1] as string);
}

/**
 * Reads the seqno from the data, because the first wallets have no get-method. It is read each time: a wallet whose messages could not be
 * sent has its old seqno.
 */
async function seqnoOf({ address, seqnoAt = 0 }: JourneyWallet): Promise<number> {
  const { body } = await service.get(`getAddressInformation?address=${address.toRawString()}`);
  const data = Cell.fromBase64((body['result'] as { data: string }).data);
  return data.beginParse().skip(seqnoAt).loadUint(32);
}

/** Emulates again at a newer block while accounts come over from the recorded network. */
async function emulate(boc: string): Promise<Reply> {
  const { network } = forked;
  for (;;) {
    const { forkedAccounts } = network;
    const answer = await client.post('emulateTrace', { boc, with_actions: true });
    if (network.forkedAccounts === forkedAccounts) return answer;
    await network.step();
    await untilIndexed(index.store, network.head().id.seqno);
  }
}

/** Emulates the journey's message, and sends it. @returns differences between both */
async function travel({ wallet, messages, seqnoAhead = 0, hasTimes = false }: Journey): Promise<readonly string[]> {
  const seqno = await seqnoOf(wallet);
  const boc = wallet.send(seqno + seqnoAhead, messages).toString('base64');
  const emulated = await emulate(boc);
  const sent = await service.post('sendBocReturnHash', { boc });
  if (seqnoAhead > 0) return refusalDifferences(emulated, sent);
  if (emulated.status !== 200 || sent.status !== 200) return [JSON.stringify([emulated.body, sent.body])];
  const { hash } = sent.body['result'] as { hash: string };
  const setting = { network: forked.network, store: index.store, service };
  const real = await wholeTrace(setting, { msg_hash: hash });
  return differencesOf(emulated.body as unknown as ComparedTrace, real, { hasTimes });
}

type Answer = Pick<Reply, 'status' | 'body'>;

/** Compares both refusals: the service sends no message that the wallet refuses, and both have the exit code of the wallet. */
function refusalDifferences(emulated: Answer, sent: Answer): readonly string[] {
  const { exit_code: exitCode } = emulated.body;
  const sentCode = /(?<=\bexitcode=)\d+/.exec(String(sent.body['error']))?.[0];
  const isSame =
    emulated.status === 422 && sent.status === 500 && sentCode !== undefined && Number(sentCode) === exitCode;
  return isSame ? [] : [JSON.stringify([emulated.status, emulated.body, sent.status, sent.body])];
}

describe('a message that is emulated and then sent', () => {
  it.each(kinds)('happens as the emulation showed: %s', async (kind) => {
    const draw = createDraw(SEED + kinds.indexOf(kind));
    expect(await travel(await journeys[kind]!(draw, scene))).toEqual([]);
  });

  it('happens as the emulation showed in random journeys', { timeout: 1_800_000 }, async () => {
    const draw = createDraw(SEED);
    for (let journey = 0; journey < randomJourneys; journey++) {
      const kind = oneOf(draw, kinds);
      expect([journey, kind, await travel(await journeys[kind]!(draw, scene))]).toEqual([journey, kind, []]);
    }
  });
});
