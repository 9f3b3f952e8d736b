import { afterAll, describe, expect, it } from 'vitest';

import { blockText } from '#service/decode/block-id.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

/** What some twenty rounds make beside the zerostates. */
const stateCellsMax = 2500;

describe('a network that runs for longer than there is room for its states', async () => {
  const network = await startPrivateNetwork({ stateCellsMax });
  const api = await startApiOver(network);
  afterAll(async () => {
    await api.close();
    await network.close();
  });
  const { chain } = network;
  const to = `0:${'ab'.repeat(32)}`;
  const wallet = testWallet(network.faucet.seed);
  const dev = createDevMethods({ network, faucet: createFaucet(network.faucet, { ...network, now: () => 0 }) });
  const { snapshot } = (await dev.dev_snapshot({})) as { snapshot: number };
  const sizes: number[] = [];
  for (let round = 0; round < 60; round++) {
    network.send(wallet.send(round, [transfer(to, 1_000_000_000n)]));
    await network.step();
    await network.step();
    sizes.push(chain.states.size);
  }

  it('holds no more cells than it may, but for those of one step', () => {
    expect(Math.max(...sizes)).toBeLessThan(stateCellsMax + 1000);
    expect(sizes.some((size, index) => size < (sizes[index - 1] ?? 0))).toBe(true);
  });

  it('goes on making blocks with what the accounts have', async () => {
    await expect
      .poll(async () => (await api.get('getMasterchainInfo')).body['result'])
      .toMatchObject({ last: { seqno: chain.lastSeqno } });
    const { status, body } = await api.get(`getAddressBalance?address=${to}`);
    expect([status, body['result'] ?? body]).toEqual([200, expect.stringMatching(/^(59|60)\d{9}$/)]);
  });

  it('refuses reads at a state that is gone as a node does that is no archive, and still has the block', async () => {
    const old = chain.masterchain(5)!;
    expect(() => old.state).toThrow(`state ${blockText(old.id)} not in db`);
    expect(chain.holdsState(old)).toBe(false);
    const at = await api.get(`getAddressBalance?address=${to}&seqno=5`);
    expect([at.status, at.body]).toMatchObject([
      500,
      { error: 'LITE_SERVER_NOTREADY: state (-1,8000000000000000,5) not in db' },
    ]);
    const header = await api.get('getBlockHeader?workchain=-1&shard=8000000000000000&seqno=5');
    expect(header.status).toBe(200);
  });

  it('tells that a snapshot is too old to go back to', async () => {
    await expect(dev.dev_revert({ snapshot })).rejects.toThrow(
      'snapshot: expected a snapshot whose states are still in memory',
    );
  });
});

describe('a network whose newest state is larger than the room for states', async () => {
  const network = await startPrivateNetwork({ stateCellsMax: 10 });
  afterAll(() => network.close());

  it('collects its states when they have doubled, not at every step', async () => {
    const { chain } = network;
    let collections = 0;
    for (let step = 0; step < 60; step++) {
      const before = chain.states;
      await network.step();
      if (chain.states === before) continue;
      collections++;
    }
    expect(collections).toBeLessThan(10);
    expect(chain.holdsState(network.head())).toBe(true);
  });
});
