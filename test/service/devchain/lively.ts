import { storeValidatorSet } from '#service/decode/tlb/validator-set.ts';
import { editConfig } from '#service/devchain/chain/edit-builders.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { describeValidator, validatorKey } from '#service/devchain/chain/signing.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

/** Accounts that `live` sends to: one in each quarter of the basechain. */
export const receivers = ['00', '50', '90', 'c0'].map((byte) => `0:${byte.padEnd(64, '7')}`);
const VALUE = 1_000_000_000n;

/** Two changes of validators, a split in four and a merge, with messages between all shards. */
export async function live(network: PrivateNetwork): Promise<void> {
  const faucet = testWallet(network.faucet.seed);
  for (let step = 0; step < 40; step++) {
    if (step === 5) network.setShardDepth(2);
    if (step === 22) network.setShardDepth(1);
    if (step % 4 === 0) {
      network.send(
        faucet.send(
          step / 4,
          receivers.map((to) => transfer(to, VALUE)),
        ),
      );
    }
    await network.step(step % 15 === 10 ? [newValidators(network, step)] : []);
  }
}

function newValidators(network: PrivateNetwork, round: number): ReturnType<typeof editConfig> {
  const keys = [0, 1, 2].map((index) => validatorKey(Buffer.alloc(32, round * 4 + index)));
  network.validatorKeys.push(...keys);
  const list = keys.map((key) => describeValidator(key, 7n));
  const term = { utimeSince: 0, utimeUntil: 0xffff_ffff, main: list.length };
  return editConfig((states) => new Map([[34, storeValidatorSet(states, { ...term, list })]]));
}
