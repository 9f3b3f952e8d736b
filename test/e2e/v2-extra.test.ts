import { Address, beginCell, external, storeMessage } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';

const account = `0:${'17'.repeat(32)}`;

/** To an account that is not there: no lite server takes it. */
const refusedMessage = beginCell()
  .store(storeMessage(external({ to: Address.parseRaw(account), body: beginCell().storeUint(7, 32).endCell() })))
  .endCell()
  .toBoc()
  .toString('base64');

describe('@extra of a failure', () => {
  let service: ApiUnderTest;
  let lastSeqno = 0;

  beforeAll(async () => {
    service = await startApiUnderTest({ servers: 2, behindBlocks: 1, requestTimeoutMs: 1500 });
    ({ lastSeqno } = service.network.chain);
  });
  afterAll(() => service.close());

  const failing = async (path: string, body?: object) => {
    const answer = await (body === undefined ? service.get(path) : service.post(path, body));
    return [answer.status, String(answer.body['@extra']).split(':')[1]];
  };
  const both = expect.stringMatching(/^(0,1|1,0)$/) as unknown;
  const some = expect.stringMatching(/^[01](,[01])?$/) as unknown;

  it('names nobody when the request was wrong', async () => {
    expect(await failing('getAddressBalance')).toEqual([422, '_']);
    expect(await failing('sendBoc', { boc: 'AAAA' })).toEqual([422, '_']);
  });

  it('names the lite servers that do not have what was asked for', async () => {
    expect(await failing(`getAddressBalance?address=${account}&seqno=${lastSeqno + 10_000}`)).toEqual([500, both]);
    expect(await failing(`getTransactions?address=${account}&lt=5&hash=${'07'.repeat(32)}`)).toEqual([500, some]);
  });

  it('names the lite servers that refused a message', async () => {
    expect(await failing('sendBoc', { boc: refusedMessage })).toEqual([500, both]);
  });

  it('names the lite servers that did not answer', async () => {
    for (const server of service.network.liteServers) await server.setFaults({ transport: { silent: 'answers' } });
    const path = `getAddressBalance?address=${account}&seqno=${lastSeqno - 7}`;
    expect(await failing(path)).toEqual([504, some]);
  });
});
