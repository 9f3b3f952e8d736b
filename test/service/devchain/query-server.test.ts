import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { createHead, startTimer } from '#service/devchain/chain/head.ts';
import { createQueryServerMetrics } from '#service/devchain/metrics.ts';
import { createMethodRunner } from '#service/devchain/queries/method-runner.ts';
import { createQueryServer } from '#service/devchain/query-server.ts';
import * as functions from '#service/liteserver/functions.ts';
import { encodeEnvelope, errorAnswer } from '#service/liteserver/tl/envelope.ts';
import { chain, silent } from './network.ts';

const noSignal = new AbortController().signal;

/** Seconds of the servers' clock. */
const nowSeconds = 1_700_000_000;
const nowMs = (): number => nowSeconds * 1000;

async function ask(payload: Buffer): Promise<Buffer | null> {
  const head = createHead({ firstSeqno: 5, lastSeqno: 10, paceSeconds: 3600 }, { startTimer });
  const metrics = createQueryServerMetrics(new Registry());
  const server = createQueryServer({
    chain,
    head,
    logger: silent,
    metrics,
    startTimer,
    now: nowMs,
    methods: createMethodRunner(),
  });
  const answer = await server.answer(payload, noSignal);
  server.close();
  head.close();
  return answer;
}

describe('what a lite server takes', () => {
  it('is a query, with or without the length inside', async () => {
    const request = functions.getTime.encode({});
    const short = Buffer.concat([Buffer.from('86e6d372', 'hex'), request]);
    for (const payload of [encodeEnvelope(request), short]) {
      expect(functions.getTime.decode((await ask(payload))!)).toEqual({ now: nowSeconds });
    }
  });

  it.each<[string, Buffer, object]>([
    ['a function of a later node', Buffer.from('0123456789abcdef', 'hex'), { code: 621, text: 'unknown query' }],
    ['nothing', Buffer.alloc(0), { code: 0, text: 'Not enough data to read at 0' }],
  ])('is refused as the node does it, when it is %s', async (_, request, error) => {
    expect(errorAnswer((await ask(encodeEnvelope(request)))!)).toEqual(error);
  });

  it('may begin with a wait; then it must go on', async () => {
    const wait = { seqno: 1, timeoutMs: 1000 };
    const answer = await ask(encodeEnvelope(functions.getMasterchainInfo.encode({}), wait));
    expect(functions.getMasterchainInfo.decode(answer!).last.seqno).toBe(5);
    const alone = await ask(encodeEnvelope(Buffer.alloc(0), wait));
    expect(errorAnswer(alone!)).toEqual({ code: 0, text: 'Not enough data to read at 0' });
  });

  it('is refused with the outcome of its wait', async () => {
    const request = functions.getTime.encode({});
    const tooBig = await ask(encodeEnvelope(request, { seqno: 106, timeoutMs: 1000 }));
    expect(errorAnswer(tooBig!)).toEqual({ code: 651, text: 'too big masterchain block seqno' });
    const late = await ask(encodeEnvelope(request, { seqno: 6, timeoutMs: 20 }));
    expect(errorAnswer(late!)).toEqual({ code: 652, text: 'timeout' });
  });

  it('gets no answer when it is no query at all', async () => {
    expect(await ask(Buffer.from('ffffffff00000000', 'hex'))).toBeNull();
    expect(await ask(Buffer.alloc(1))).toBeNull();
  });
});
