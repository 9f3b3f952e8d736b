import { describe, expect, it } from 'vitest';

import { openSeenBlock } from '#service/streaming/confirmed/seen-block.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';
import { skipLoudly } from '#test/support/skips.ts';

const [recordingDir] = recordingDirs();
const missing = skipLoudly(recordingDir === undefined, { what: 'real signed blocks', why: 'no recorded network' });

describe.skipIf(missing)('blocks of a real network', () => {
  it('open whatever they prune of the states before them, and show those of most accounts', async () => {
    const chain = await recordedChain(recordingDir!);
    const [accounts, shown] = [new Set<string>(), new Set<string>()];
    for (const workchain of [-1, 0]) {
      for (const { id, bytes, previous } of chain.along(workchain, 1n << 63n).slice(-100)) {
        const { transactions, states, name } = openSeenBlock({ id, boc: bytes, previous });
        for (const { account, transaction } of transactions) {
          const before = states.get(transaction.stateUpdate.oldHash.toString('base64'));
          accounts.add(`${name} ${account}`);
          if (before !== undefined) shown.add(`${name} ${account}`);
        }
      }
    }
    expect(shown.size).toBeGreaterThan(accounts.size / 2);
  });
});
