import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApiUnderTest, type ApiUnderTest, type Faults } from '#test/support/api.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { countOf } from '#test/support/volume.ts';

/** Every way in which a lite server fails, with the status that callers see while no good one is left. */
const faults: readonly { readonly name: string; readonly fault: Faults; readonly alone: readonly number[] }[] = [
  { name: 'is silent', fault: { silent: true }, alone: [504, 503] },
  { name: 'takes queries and never answers', fault: { transport: { silent: 'answers' } }, alone: [504, 503] },
  { name: 'is slow', fault: { transport: { delayMs: 20_000 } }, alone: [504, 503] },
  { name: 'trickles its answers', fault: { transport: { slowWrite: { bytes: 1, everyMs: 50 } } }, alone: [504, 503] },
  { name: 'gives up after its own deadline', fault: { overloadedAfterMs: 100 }, alone: [504, 503] },
  { name: 'has no block yet', fault: { notReady: 'lagging' }, alone: [500, 503] },
  { name: 'has no block any more', fault: { notReady: 'pruned' }, alone: [500, 503] },
  { name: 'has too many callers', fault: { refuse: { code: 429, text: 'too many requests' } }, alone: [500, 503] },
  { name: 'answers about another block', fault: { wrongId: true }, alone: [500, 503] },
  { name: 'sends a wrong root hash', fault: { proof: 'wrongHash' }, alone: [500, 503] },
  { name: 'forges the stored hash', fault: { proof: 'storedHash' }, alone: [500, 503] },
  { name: 'leaves a cell out', fault: { proof: 'missingCell' }, alone: [500, 503] },
  { name: 'sends frames with a bad hash', fault: { transport: { badFrameHash: true } }, alone: [503, 504] },
  { name: 'closes in the middle of a frame', fault: { transport: { halfFrame: true } }, alone: [503, 504] },
  { name: 'sends garbage', fault: { transport: { garbage: true } }, alone: [503, 504] },
];

/** What the recording says of an account at its last block. */
type RecordedAccount = { readonly address: string; readonly balance_at_last: string };

const [recordingDir = ''] = recordingDirs();
const accounts = Object.values(
  JSON.parse(readFileSync(join(recordingDir, 'accounts.json'), 'utf8')) as Record<string, RecordedAccount>,
);

/** A quick run has each fourth fault: silence, an error, a lie, a broken connection. */
const EVERY = countOf({ quick: 4, full: 1 });

describe.each(faults.filter((_, index) => index % EVERY === 0))('while a lite server $name', ({ fault, alone }) => {
  let service: ApiUnderTest;

  beforeAll(async () => {
    service = await startApiUnderTest({ servers: 2, behindBlocks: 1, requestTimeoutMs: 4000 });
    await service.network.liteServers[0]?.setFaults(fault);
  });
  afterAll(() => service.close());

  it('the head goes on', async () => {
    const { lastSeqno } = service.network.chain;
    service.network.moveHead(lastSeqno);
    await expect.poll(() => service.api.pool.head()?.block.seqno).toBe(lastSeqno);
  });

  it('every read succeeds and is right, as long as one good one is left', async () => {
    const answers = await Promise.all(
      accounts.map(({ address }) => service.get(`getAddressBalance?address=${address}`)),
    );
    expect(answers.map(({ body }) => body['result'])).toEqual(accounts.map((account) => account.balance_at_last));
  });

  it('callers are told when no good one is left, and the process lives', async () => {
    await service.network.liteServers[1]?.setFaults(fault);
    const seqno = service.network.chain.lastSeqno - 7;
    const { status, body } = await service.get(`getAddressBalance?address=${accounts[0]?.address}&seqno=${seqno}`);
    expect(body).toMatchObject({ ok: false, code: status, error: expect.any(String) as string });
    expect(alone).toContain(status);
  });
});

describe('while more is asked than slow lite servers bear', () => {
  let service: ApiUnderTest;

  beforeAll(async () => {
    service = await startApiUnderTest({ servers: 2, behindBlocks: 1, requestTimeoutMs: 10_000, maxInFlight: 3 });
    for (const liteServer of service.network.liteServers) await liteServer.setFaults({ transport: { delayMs: 300 } });
  });
  afterAll(() => service.close());

  it('some are answered, the others told 503 and when to come again, in JSON and in words', async () => {
    const replies = await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const address = `0:${index.toString(16).padStart(64, '0')}`;
        const headers = { 'x-api-key': service.key };
        const reply = await fetch(`${service.api.url}/api/v2/getAddressBalance?address=${address}`, { headers });
        return { status: reply.status, again: reply.headers.get('retry-after'), body: (await reply.json()) as object };
      }),
    );
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(replies.length);
    for (const { status, again, body } of refused) {
      expect(status).toBe(503);
      expect(Number(again)).toBeGreaterThanOrEqual(1);
      expect(body).toMatchObject({ ok: false, code: 503, error: 'lite servers are busy, try again later' });
    }
    const shed = await service.register.getSingleMetricAsString('ton_pool_shed_total');
    expect(shed).toMatch(/ton_pool_shed_total{reason="(full|hopeless|late)"} [1-9]/);
  });
});
