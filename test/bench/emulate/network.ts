import { writeBoc } from '#service/decode/boc-writer.ts';
import { readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { startForkedNetwork } from '#test/support/forked-network.ts';
import { jettonOrder } from '#test/support/jetton-order.ts';
import { transfer } from '#test/support/wallet.ts';
import type { EmulateNetwork } from './settings.ts';

// The process of the lite server. Its CPU time is not that of the servers under load.

const forked = await startForkedNetwork();
const { network } = forked;

/** Blocks of the network, as many as a contract sees on a long chain. */
const BLOCKS = 16;
while (network.head().id.seqno < BLOCKS) await network.step();

const [sender, receiver] = [forked.wallet('w3'), forked.wallet('w1')];

/** A commission and jettons, which the receiver hears of: wallet, commission, two jetton wallets, notification, excess. */
const jettons = sender.send(0, [
  jettonOrder(forked.address('jetton_wallet_w3'), {
    to: receiver.address,
    amount: 1_500_000n,
    back: sender.address,
    forward: 10_000_000n,
  }),
  transfer(forked.wallet('w2').address, 5_000_000n),
]);
const plain = sender.send(0, [transfer(receiver.address, 1_000_000_000n)]);

function configInForce(): Buffer {
  const { chain } = network;
  const { custom } = readShardState(chain.states, network.head().state);
  const { config } = readMasterchainStateExtra(chain.states, custom!);
  return writeBoc(chain.states, [config.root]);
}

process.once('disconnect', () => void network.close());

const [{ host, port, publicKey } = { host: '', port: 0, publicKey: Buffer.alloc(0) }] = network.liteServers;
const settings: EmulateNetwork = {
  globalConfig: JSON.stringify(network.globalConfig()),
  liteServer: { host, port, publicKey: publicKey.toString('hex') },
  config: configInForce().toString('base64'),
  utime: network.head().header.utime,
  jettons: jettons.toString('base64'),
  plain: plain.toString('base64'),
};
process.send?.(settings);
