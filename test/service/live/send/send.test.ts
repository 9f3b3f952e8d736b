import { Address, beginCell, external, storeMessage } from '@ton/core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { createLiveSend } from '#service/live/send/send.ts';
import type { LiveSend } from '#service/live/send/send.ts';
import { metric, openPool, patientTuning, startNetwork, until, within } from '#test/service/pool/network.ts';
import type { PoolUnderTest } from '#test/service/pool/network.ts';

const configuration = new Address(-1, Buffer.alloc(32, 0x55));

let network: Devchain;
let open: PoolUnderTest;
let live: LiveSend;
let messages = 0;

beforeAll(async () => {
  network = await startNetwork(3);
  open = openPool(network, { tuning: patientTuning });
  live = createLiveSend({ pool: open.pool });
  await until(() => open.pool.status().every(({ phase }) => phase === 'in'));
});

beforeEach(() => Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({}))));

afterAll(async () => {
  await open.close();
  await network.close();
});

function messageTo(to: Address) {
  const body = beginCell().storeUint(++messages, 64).endCell();
  return beginCell()
    .store(storeMessage(external({ to, body })))
    .endCell();
}

describe('a message', () => {
  test('is taken once, and again however it is spelled', async () => {
    const cell = messageTo(configuration);
    for (const bytes of [cell.toBoc(), cell.toBoc({ idx: true }), cell.toBoc({ crc32: false })]) {
      const { value, liteServers, cached } = await live.send(bytes, within(60_000));
      expect(value.hash).toEqual(cell.hash());
      expect(liteServers.toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
      expect(cached).toBe(false);
    }
  });

  test('to an account that is not there is refused in the words of the network', async () => {
    const sent = live.send(messageTo(new Address(0, Buffer.alloc(32, 0x99))).toBoc(), within(60_000));
    const text = 'cannot apply external message to current state : Failed to unpack account state';
    await expect(sent).rejects.toMatchObject({ code: 'rejected', data: { text } });
  });

  test('that is none reaches no lite server', async () => {
    const before = await metric(open.register, 'ton_pool_attempts_total');
    await expect(live.send(Buffer.from('AAAA', 'base64'), within(60_000))).rejects.toMatchObject({
      code: 'bad_message',
    });
    await expect(live.send(beginCell().endCell().toBoc(), within(60_000))).rejects.toMatchObject({
      code: 'bad_message',
    });
    expect(await metric(open.register, 'ton_pool_attempts_total')).toBe(before);
  });

  test('that a lite server took and others know by then is delivered', async () => {
    const [, ...others] = network.liteServers;
    await Promise.all(others.map((one) => one.setFaults({ only: ['sendMessage'], duplicate: true })));
    expect((await live.send(messageTo(configuration).toBoc(), within(60_000))).value.hash).toHaveLength(32);
  });
});
