import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { createLiveAccounts } from '#service/live/accounts/live-accounts.ts';
import { metric, openPool, patientTuning, startNetwork, until, within } from '../pool/network.ts';
import type { Faults, PoolUnderTest } from '../pool/network.ts';

/** Each function that an account read is made of, forged in each way. */
const functions = ['getAccountState', 'lookupBlock', 'getConfigParams', 'getBlockProof'] as const;
const ways: readonly (readonly [string, Faults])[] = [
  ['answers about another block', { wrongId: true }],
  ['proofs of something else', { proof: 'wrongHash' }],
  ['a forged stored hash', { proof: 'storedHash' }],
  ['a missing cell', { proof: 'missingCell' }],
];
const forgeries = functions.flatMap((name) =>
  ways.map(([way, faults]) => ({ name, way, faults: { ...faults, only: [name] } })),
);

/** An account whose proof has inner cells on its way: the one of the configuration contract. */
const account = { workchain: -1, id: Buffer.alloc(32, 0x55) };

let network: Devchain;
let open: PoolUnderTest | undefined;

beforeAll(async () => {
  network = await startNetwork(3);
});

afterEach(async () => {
  await open?.close();
  open = undefined;
  await Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({})));
});

afterAll(() => network.close());

describe('an account read is right with two of three lite servers forging', () => {
  test.each(forgeries)('$name: $way', async ({ faults }) => {
    const honest = openPool(network, { use: [2], tuning: patientTuning });
    await until(() => honest.pool.ready());
    const expected = createLiveAccounts({ trust: 'verified' }, { pool: honest.pool });
    await Promise.all([0, 1].map((index) => network.liteServers[index]!.setFaults(faults)));
    open = openPool(network, { tuning: patientTuning });
    const { pool } = open;
    await until(() => pool.ready());
    const live = createLiveAccounts({ trust: 'verified' }, { pool });
    for (const seqno of [undefined, 3, 250]) {
      const { value } = await live.readAccount(account, seqno, within(60_000));
      const right = await expected.readAccount(account, seqno ?? value.masterchainBlock.seqno, within(60_000));
      expect(value).toEqual(right.value);
    }
    expect(pool.status()[2]).toMatchObject({ phase: 'in', misbehaviours: 0 });
    await honest.close();
  });
});

test('with every lite server forging nothing is read, and each forger is counted', async () => {
  open = openPool(network, { tuning: patientTuning });
  const { pool, register } = open;
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  await Promise.all(
    network.liteServers.map((liteServer) => liteServer.setFaults({ only: ['getAccountState'], proof: 'wrongHash' })),
  );
  const live = createLiveAccounts({ trust: 'verified' }, { pool });
  await expect(live.readAccount(account, undefined, within(60_000))).rejects.toMatchObject({ name: 'ProofError' });
  for (const { name, misbehaviours } of pool.status()) {
    expect(misbehaviours).toBe(1);
    expect(await metric(register, 'ton_pool_misbehaviours_total', { lite_server: name })).toBe(1);
  }
  await expect(live.readAccount(account, undefined, within(60_000))).rejects.toMatchObject({ code: 'no_lite_server' });
});
