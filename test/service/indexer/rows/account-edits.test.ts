import { describe, expect, it, onTestFinished } from 'vitest';

import { editAccount } from '#service/devchain/chain/edit-builders.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import { accountKey } from '#service/store/account-key.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { recordedBlocks } from '../recorded-blocks.ts';

const accountAt = (byte: number) => ({ workchain: 0, id: Buffer.alloc(32, byte) });
const addressAt = (byte: number): string => `0:${Buffer.alloc(32, byte).toString('hex')}`;

async function start(options: PrivateNetworkOptions = {}) {
  const network = await startPrivateNetwork(options);
  onTestFinished(() => network.close());
  const methods = createDevMethods({ network, faucet: createFaucet(network.faucet, { ...network, now: () => 0 }) });
  const setBalance = (byte: number, balance: number): Promise<unknown> =>
    methods.dev_setBalance({ address: addressAt(byte), balance: String(balance) });
  return { network, setBalance };
}

/** Balances that blocks without a transaction set, oldest first: of the account that begins with a byte. */
function editsOf({ chain }: PrivateNetwork, byte: number): readonly bigint[] {
  const key = accountKey(accountAt(byte));
  return chain.along(0, accountAt(byte).id.readBigUInt64BE(0)).flatMap(({ id, bytes, masterchainSeqno: mcSeqno }) => {
    const masterchain = { id, boc: bytes };
    const alone = { mcSeqno, utime: 0, masterchain, shards: [], zeroStates: [], tops: [], globalVersion: undefined };
    const { accountEdits, latestAccountStates } = rowsOf(alone);
    const edits = accountEdits.filter(({ account }) => key.equals(account));
    return edits.map(({ hash, lt }) => {
      const state = latestAccountStates.find(({ account }) => key.equals(account))!;
      expect(state).toMatchObject({ hash, changed_lt: lt, last_trans_lt: 0n });
      return state.status === 3 ? -1n : state.balance;
    });
  });
}

describe('changes of accounts without a transaction', () => {
  it('are none in a network whose validators execute every block', async () => {
    const found = (await recordedBlocks()).flatMap((blocks) => rowsOf(blocks).accountEdits);
    expect(found).toEqual([]);
  });

  it('are found for accounts that come, change and go, also beside each other', async () => {
    const { network, setBalance } = await start();
    for (const byte of [0x10, 0x11, 0x90]) await setBalance(byte, byte);
    await setBalance(0x10, 5);
    await network.step([{ ...accountAt(0x11), edit: () => undefined }]);
    expect(editsOf(network, 0x10)).toEqual([0x10n, 5n]);
    expect(editsOf(network, 0x11)).toEqual([0x11n, -1n]);
    expect(editsOf(network, 0x90)).toEqual([0x90n]);
  });

  it('are found in the first blocks after a split and after a merge', async () => {
    const { network, setBalance } = await start({ splitMergeDelaySeconds: 0, splitMergeIntervalSeconds: 100 });
    const bytes = [0x10, 0x11, 0x90, 0x91];
    for (const byte of bytes) await setBalance(byte, byte);
    const untilShards = async (count: number): Promise<void> => {
      network.setShardDepth(count - 1);
      let balance = 100;
      // Each block has changes in both halves: those at the border of a split or merge are among them.
      for (let block = 0; network.head().shards.length !== count && block < 40; block++) {
        balance += 1;
        await network.step(
          [0x10, 0x90].map((byte) => editAccount(accountAt(byte), () => ({ balance: BigInt(balance) }))),
        );
      }
      expect(network.head().shards).toHaveLength(count);
      await network.step([0x11, 0x91].map((byte) => ({ ...accountAt(byte), edit: () => undefined })));
      for (const byte of [0x11, 0x91]) await setBalance(byte, byte);
    };
    await untilShards(2);
    await untilShards(1);
    const [low, high] = [0x10, 0x90].map((byte) => editsOf(network, byte));
    expect(low!.slice(1)).toEqual(high!.slice(1));
    expect(low!.length).toBeGreaterThan(4);
    expect(editsOf(network, 0x11)).toEqual([0x11n, -1n, 0x11n, -1n, 0x11n]);
    expect(editsOf(network, 0x91)).toEqual([0x91n, -1n, 0x91n, -1n, 0x91n]);
  });
});
