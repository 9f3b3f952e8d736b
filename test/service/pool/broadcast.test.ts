import { beginCell, Address, external, storeMessage } from '@ton/core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { functionOf } from '#service/liteserver/function-table.ts';
import { sendMessage } from '#service/liteserver/functions.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import { BROADCAST_WIDTH } from '#service/pool/broadcast.ts';
import { runningMs } from '#test/support/running-time.ts';
import { metric, openPool, patientTuning, startNetwork, sturdyTuning, until, within } from './network.ts';
import type { Faults, PoolUnderTest } from './network.ts';

/** Number of lite servers, more than get a message at once. */
const SERVERS = 7;

let network: Devchain;
let open: PoolUnderTest;
let messages = 0;

/** Returns a message that no lite server had before, to the configuration contract, which exists on every network. */
function freshMessage(): Buffer {
  const body = beginCell().storeUint(++messages, 64).endCell();
  const to = new Address(-1, Buffer.alloc(32, 0x55));
  return beginCell()
    .store(storeMessage(external({ to, body })))
    .endCell()
    .toBoc();
}

/** Makes the lite server accept the message and answer with this status. */
function withStatus(server: LiteServer, status: number): LiteServer {
  return {
    ...server,
    queryBytes: async (request, options) => {
      const answer = await server.queryBytes(request, options);
      return functionOf(request) === sendMessage ? sendMessage.encodeAnswer({ status }) : answer;
    },
  };
}

async function setFaults(indexes: readonly number[], faults: Faults): Promise<void> {
  await Promise.all(indexes.map((index) => network.liteServers[index]!.setFaults(faults)));
}

const all = Array.from({ length: SERVERS }, (_, index) => index);
const rejects: Faults = {
  only: ['sendMessage'],
  refuse: { code: 0, text: 'cannot apply external message to current state : External message was not accepted' },
};
const knows: Faults = { only: ['sendMessage'], duplicate: true };
const overloaded: Faults = {
  only: ['sendMessage'],
  refuse: { code: 0, text: 'cannot apply external message: too many pending external message checks' },
};
const silent: Faults = { only: ['sendMessage'], silent: true };

beforeAll(async () => {
  network = await startNetwork(SERVERS);
  open = openPool(network, { tuning: patientTuning });
  await until(() => open.pool.status().every(({ phase }) => phase === 'in'));
});

afterEach(async () => {
  await setFaults(all, {});
  await until(() => open.pool.status().every(({ phase }) => phase === 'in'));
});

afterAll(async () => {
  await open.close();
  await network.close();
});

describe('a message', () => {
  test('a message goes to five lite servers and is delivered by the first that accepts it', async () => {
    const before = await metric(open.register, 'ton_pool_attempts_total', { outcome: 'ok' });
    const { liteServers, known } = await open.pool.broadcast(freshMessage(), within(60_000));
    expect(new Set(liteServers).size).toBe(BROADCAST_WIDTH);
    expect(known).toBe(false);
    const counted = async (): Promise<number> =>
      (await metric(open.register, 'ton_pool_attempts_total', { outcome: 'ok' })) - before;
    await expect.poll(counted).toBeGreaterThanOrEqual(BROADCAST_WIDTH);
  });

  test('a message that the network has already is delivered', async () => {
    const message = freshMessage();
    await open.pool.broadcast(message, within(60_000));
    await expect(open.pool.broadcast(message, within(60_000))).resolves.toMatchObject({
      liteServers: expect.any(Array),
    });
    await setFaults(all, knows);
    expect(await open.pool.broadcast(message, within(60_000))).toMatchObject({ known: true });
  });

  test.each<[string, Faults]>([
    ['reject it', rejects],
    ['are overloaded', overloaded],
    ['say nothing', silent],
    ['cut the connection', { transport: { halfFrame: true } }],
  ])('a message is delivered by the only lite server that accepts it while all others %s', async (_what, faults) => {
    const three = openPool(network, { use: [0, 1, 2], tuning: sturdyTuning });
    await until(() => three.pool.status().every(({ phase }) => phase === 'in'));
    await setFaults([0, 1], faults);
    await expect(three.pool.broadcast(freshMessage(), within(60_000))).resolves.toMatchObject({ known: false });
    await three.close();
  });

  test('a message is not delivered by a lite server that answers with another status than 1', async () => {
    for (const status of [0, -1, 2]) {
      const lying = openPool(network, {
        use: [0],
        tuning: patientTuning,
        wrap: (server) => withStatus(server, status),
      });
      await until(() => lying.pool.ready());
      await expect(lying.pool.broadcast(freshMessage(), within(60_000))).rejects.toMatchObject({ code: 'protocol' });
      await lying.close();
    }
  });

  test('a message goes to further servers when the first five fail without refusing it', async () => {
    await setFaults(all.slice(0, -1), overloaded);
    const { liteServers } = await open.pool.broadcast(freshMessage(), within(60_000));
    expect(liteServers).toContain(SERVERS - 1);
  });

  test('a message that all servers reject is refused with their text, and no lite server is at fault', async () => {
    await setFaults(all, rejects);
    const sent = open.pool.broadcast(freshMessage(), within(60_000));
    await expect(sent).rejects.toMatchObject({ code: 'rejected', data: { text: rejects.refuse?.text } });
    expect(open.pool.status().every(({ phase }) => phase === 'in')).toBe(true);
  });

  test('a message that some servers reject while others are silent is refused before the caller gives up', async () => {
    const hasty = openPool(network);
    await until(() => hasty.pool.status().every(({ phase }) => phase === 'in'));
    await setFaults([0, 1, 2, 3], rejects);
    await setFaults([4, 5, 6], silent);
    const send = (): Promise<void> =>
      expect(hasty.pool.broadcast(freshMessage(), within(60_000))).rejects.toMatchObject({ code: 'rejected' });
    expect(await runningMs(send)).toBeLessThan(2_000);
    await hasty.close();
  });

  test('a message of a wallet whose earlier message waits is refused, not taken for delivered', async () => {
    const text = 'cannot apply external message to current state : Duplicate msg_seqno 7';
    await setFaults(all, { only: ['sendMessage'], refuse: { code: 0, text } });
    await expect(open.pool.broadcast(freshMessage(), within(60_000))).rejects.toMatchObject({ data: { text } });
  });

  test('a message is given up at the deadline, and when the caller goes', async () => {
    await setFaults(all, silent);
    await expect(open.pool.broadcast(freshMessage(), within(150))).rejects.toMatchObject({ code: 'deadline' });
    const caller = new AbortController();
    const sent = open.pool.broadcast(freshMessage(), within(60_000, caller.signal));
    caller.abort();
    await expect(sent).rejects.toMatchObject({ code: 'aborted' });
    const gone = open.pool.broadcast(freshMessage(), within(60_000, AbortSignal.abort()));
    await expect(gone).rejects.toMatchObject({ code: 'aborted' });
  });

  test('a closed pool sends no message', async () => {
    const other = openPool(network, { use: [0] });
    await other.close();
    await expect(other.pool.broadcast(freshMessage(), within(1_000))).rejects.toMatchObject({ code: 'closed' });
  });
});
