import { describe, expect, it, onTestFinished } from 'vitest';

import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { openMasterchainState } from '#service/devchain/collator/masterchain-state.ts';
import { accountAt } from '#test/service/tvm/recorded-world.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { live, receivers } from './lively.ts';
import { askTonutils, buildTonutils } from './tonutils.ts';

const built = await buildTonutils();
const missing = 'missing' in built;

const nobody = `0:${'12'.repeat(32)}`;

// Version 1.12 knows no simplex signatures.

describe.skipIf(
  skipLoudly(missing, { what: 'tonutils-go against a private network', why: missing ? built.missing : '' }),
)('tonutils-go with its secure proof policy', () => {
  it.each([1, 4, 21])(
    'believes %i validators from the block of the configuration on, over their changes, a split and a merge',
    async (validators) => {
      const genesisUtime = Math.floor(Date.now() / 1000) - 100;
      const timing = { splitMergeDelaySeconds: 3, splitMergeIntervalSeconds: 60, genesisUtime };
      const network = await startPrivateNetwork({ validators, ...timing });
      onTestFinished(() => network.close());
      await live(network);
      const wallet = `0:${network.faucet.id.toString('hex')}`;
      const question = { wallet, method: 'seqno', param: 34, accounts: [...receivers, nobody] };
      const answer = await askTonutils('program' in built ? built.program : '', {
        config: network.globalConfig(),
        ...question,
      });
      const { states } = network.chain;
      const { id, state } = network.head();
      const param = findConfigParam(states, openMasterchainState(states, state).config.root, 34)!;
      expect(answer).toMatchObject({
        seqno: id.seqno,
        rootHash: id.rootHash.toString('hex'),
        method: '10',
        paramHash: states.hash(param).toString('hex'),
      });
      expect(answer.transactions.length).toBe(10);
      const balances = receivers.map((address) => {
        const place = { workchain: 0, id: Buffer.from(address.slice(2), 'hex') };
        return accountAt(network.chain, id.seqno, place).account?.balance.grams.toString();
      });
      expect(receivers.map((address) => answer.balances[address])).toEqual(balances);
      expect(answer.balances[nobody]).toBe('none');
    },
  );

  it('believes a new network in which nothing has happened', async () => {
    const network = await startPrivateNetwork({ genesisUtime: Math.floor(Date.now() / 1000) - 10 });
    onTestFinished(() => network.close());
    const wallet = `0:${network.faucet.id.toString('hex')}`;
    const question = { config: network.globalConfig(), wallet, method: 'seqno', param: 34, accounts: [nobody] };
    const answer = await askTonutils('program' in built ? built.program : '', question);
    expect(answer).toMatchObject({ seqno: network.head().id.seqno, method: '0', balances: { [nobody]: 'none' } });
  });
});
