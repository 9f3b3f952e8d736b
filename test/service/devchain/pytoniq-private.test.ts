import { describe, expect, it, onTestFinished } from 'vitest';

import { accountAt } from '#test/service/tvm/recorded-world.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { live } from './lively.ts';
import { askPytoniq, installPytoniq } from './pytoniq.ts';

const installed = await installPytoniq();
const missing = 'missing' in installed;
const python = missing ? '' : installed.python;

describe.skipIf(
  skipLoudly(missing, { what: 'pytoniq against a private network', why: missing ? installed.missing : '' }),
)('pytoniq at trust level 0', () => {
  it.each([
    [1, 'in which nothing has happened', false],
    [4, 'over changes of validators, a split and a merge', true],
  ])('believes a network of %i validators %s', async (validators, _story, isLively) => {
    const genesisUtime = Math.floor(Date.now() / 1000) - 100;
    const timing = { splitMergeDelaySeconds: 3, splitMergeIntervalSeconds: 60, genesisUtime };
    const network = await startPrivateNetwork({ validators, ...timing });
    onTestFinished(() => network.close());
    if (isLively) await live(network);
    const { id } = network.head();
    const wallet = `0:${network.faucet.id.toString('hex')}`;
    const answer = await askPytoniq(python, { config: network.globalConfig(), wallet, transactions: isLively });
    const { account } = accountAt(network.chain, id.seqno, { workchain: 0, id: network.faucet.id });
    expect(answer).toMatchObject({
      seqno: id.seqno,
      rootHash: id.rootHash.toString('hex'),
      balance: account!.balance.grams.toString(),
      method: [isLively ? 10 : 0],
    });
    expect(answer.transactions).toHaveLength(isLively ? 10 : 0);
  });
});
