import { describe, expect, it, onTestFinished } from 'vitest';

import type { DevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

const tenYears = 316_224_000;
const lastSecond = 2 ** 32 - 1;

async function start(): Promise<{ readonly network: PrivateNetwork; readonly methods: DevMethods }> {
  const network = await startPrivateNetwork();
  onTestFinished(() => network.close());
  const faucet = createFaucet(network.faucet, { ...network, now: () => 0 });
  return { network, methods: createDevMethods({ network, faucet }) };
}

describe('the clock of a private network', () => {
  it('is named in the refusal of a message when it is ahead of the clock of the machine', async () => {
    const { network, methods } = await start();
    const wallet = testWallet(network.faucet.seed);
    const refused = (): unknown => {
      try {
        return network.send(wallet.send(99, [transfer(wallet.address, BigInt(network.head().id.seqno))]));
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(refused()).toMatch(/exitcode=33(?![^]*ahead)/);
    await methods.dev_advance({ seconds: 3600 });
    const text = String(refused());
    const [, seconds] = /\nThe clock of the network is (\d+) s ahead of the clock of this machine/.exec(text) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(3600);
    expect(text).toContain('exitcode=33');
  });

  it('goes on past 2038, where blocks are found by their times', async () => {
    const { network, methods } = await start();
    await methods.dev_advance({ seconds: tenYears });
    await methods.dev_advance({ seconds: tenYears });
    await methods.dev_mine({ blocks: 2 });
    const { header, id } = network.head();
    expect(header.utime).toBeGreaterThan(2 ** 31);
    const api = await startApiOver(network);
    onTestFinished(() => api.close());
    const place = `workchain=-1&shard=-9223372036854775808`;
    const { status, body } = await api.get(`lookupBlock?${place}&unixtime=${header.utime}`);
    expect([status, body['result']]).toMatchObject([200, { seqno: id.seqno }]);
    expect((await api.get(`lookupBlock?${place}&unixtime=${2 ** 32}`)).status).toBe(422);
    expect((await api.get(`lookupBlock?${place}&unixtime=-1`)).status).toBe(422);
  });

  it('does not pass the last second that a block may have', async () => {
    const { network, methods } = await start();
    await methods.dev_setNextBlockTime({ utime: network.head().header.utime + tenYears });
    await methods.dev_mine({ blocks: 1 });
    for (let decade = 0; decade < 6; decade++) await methods.dev_advance({ seconds: tenYears });
    const left = lastSecond - network.utime();
    await expect(methods.dev_advance({ seconds: left + 1 })).rejects.toMatchObject({ code: 'bad_argument' });
    await expect(methods.dev_setTime({ utime: lastSecond + 1 })).rejects.toMatchObject({ code: 'bad_argument' });
    await expect(methods.dev_setNextBlockTime({ utime: lastSecond + 1 })).rejects.toMatchObject({
      code: 'bad_argument',
    });
    await methods.dev_advance({ seconds: 1 });
    expect(network.head().header.utime).toBeGreaterThan(lastSecond - tenYears);
  });
});
