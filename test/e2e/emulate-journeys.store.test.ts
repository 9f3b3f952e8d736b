import { setTimeout as sleep } from 'node:timers/promises';

import { Address } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { migrate } from '#service/store/migrate.ts';
import type { OpenApi } from '#test/service/http/reference.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { createDraw, oneOf } from '#test/support/draw.ts';
import { differencesOf, type ComparedTrace } from '#test/support/emulated-and-real.ts';
import { journeys, walletsOf, type Journey, type JourneyScene } from '#test/support/emulated-journeys.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { putAccount } from '#test/support/put-account.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';
import { createAnswerJudge, type AnswerJudge } from '#test/support/v2-reference.ts';
import { countOf } from '#test/support/volume.ts';

const kinds = Object.keys(journeys);

/** Besides each kind once. */
const randomJourneys = countOf({ quick: 5, full: 200 });
const SEED = 20_261_127;

/** Blocks after which each trace of a journey is whole, and looks at a whole trace until it is classified. */
const BLOCKS = 40;
const LOOKS = 600;
const LOOK_MS = 50;

type Json = Readonly<Record<string, unknown>>;
type Answer = { readonly status: number; readonly body: Json };

let forked: ForkedNetwork;
let index: StoreUnderTest;
let service: Omit<ApiUnderTest, 'network'>;
let judge: AnswerJudge;
let scene: JourneyScene;

beforeAll(async () => {
  forked = await startForkedNetwork();
  const { network } = forked;
  const wallets = walletsOf(Buffer.alloc(32, 5));
  const edits = Object.values(wallets).map(({ address, init }) =>
    putAccount({ workchain: address.workChain, id: address.hash }, init!),
  );
  await network.step(edits);
  index = await createStoreUnderTest(import.meta.filename);
  await migrate(index.store);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  service = await startApiOver(over, { postgresUrl: index.url, writesIndex: true });
  const document = await fetch(`${service.api.url}/api/emulate/v1/openapi.json`);
  judge = createAnswerJudge((await document.json()) as OpenApi);
  scene = { ...forked, ...wallets, ownerOf, nextOrder };
}, 120_000);
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

/** Read each time: a wallet whose messages could not be sent has its old seqno. */
async function seqnoOf(address: Address): Promise<number> {
  const [seqno] = await runMethod(address, 'seqno');
  return Number(seqno![1]);
}

/** Emulates again at a newer block while accounts come over from the recorded network. */
async function emulate(boc: string): Promise<Answer> {
  const { network } = forked;
  for (;;) {
    const { forkedAccounts } = network;
    const answer = await emulateOnce(boc);
    if (network.forkedAccounts === forkedAccounts) return answer;
    await network.step();
    await untilIndexed(index.store, network.head().id.seqno);
  }
}

async function emulateOnce(boc: string): Promise<Answer> {
  const path = '/api/emulate/v1/emulateTrace';
  const headers = { 'content-type': 'application/json', 'x-api-key': service.key };
  const body = JSON.stringify({ boc, with_actions: true });
  const response = await fetch(`${service.api.url}${path}`, { method: 'POST', headers, body });
  const answer = { status: response.status, body: (await response.json()) as Json };
  expect(judge.flaws({ path, method: 'POST', status: answer.status }, answer.body)).toEqual([]);
  return answer;
}

type RealTrace = ComparedTrace & {
  readonly is_incomplete: boolean;
  readonly trace_info: { readonly trace_state: string; readonly classification_state: string };
};

/** Makes blocks until the message's trace is whole and classified. */
async function happened(hash: string): Promise<ComparedTrace> {
  const query = new URLSearchParams({ msg_hash: hash, include_actions: 'true' }).toString();
  for (let block = 0; block < BLOCKS; block++) {
    await forked.network.step();
    await untilIndexed(index.store, forked.network.head().id.seqno);
    const trace = await traceOf(query);
    if (trace !== undefined) return trace;
  }
  throw new Error('the trace is not whole');
}

/** Undefined while the trace is not whole. */
async function traceOf(query: string): Promise<ComparedTrace | undefined> {
  const headers = { 'x-api-key': service.key };
  for (let look = 0; look < LOOKS; look++) {
    const response = await fetch(`${service.api.url}/api/v3/traces?${query}`, { headers });
    const [trace] = ((await response.json()) as { traces?: readonly RealTrace[] }).traces ?? [];
    if (trace === undefined || trace.is_incomplete || trace.trace_info.trace_state !== 'complete') return undefined;
    if (trace.trace_info.classification_state === 'ok') return trace;
    await sleep(LOOK_MS);
  }
  return undefined;
}

/** Emulates the journey's message, and sends it. @returns differences between both */
async function travel({ wallet, messages, seqnoAhead = 0 }: Journey): Promise<readonly string[]> {
  const seqno = await seqnoOf(wallet.address);
  const boc = wallet.send(seqno + seqnoAhead, messages).toString('base64');
  const emulated = await emulate(boc);
  const sent = await service.post('sendBocReturnHash', { boc });
  if (seqnoAhead > 0) return refusalDifferences(emulated, sent);
  if (emulated.status !== 200 || sent.status !== 200) return [JSON.stringify([emulated.body, sent.body])];
  const real = await happened((sent.body['result'] as { hash: string }).hash);
  return differencesOf(emulated.body as unknown as ComparedTrace, real);
}

/** Both refuse the message with the exit code of the wallet. */
function refusalDifferences(emulated: Answer, sent: Answer): readonly string[] {
  const exitCode = emulated.body['exit_code'] as number | null;
  const isSame =
    emulated.status === 422 && exitCode !== null && String(sent.body['error']).includes(`exitcode=${exitCode}`);
  return isSame ? [] : [JSON.stringify([emulated.body, sent.body])];
}

describe('a message that is emulated and then sent', () => {
  it.each(kinds)('happens as the emulation showed: %s', { timeout: 120_000 }, async (kind) => {
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
