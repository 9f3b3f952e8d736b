import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createPrivateNetwork } from '#service/devchain/private-network.ts';
import { validatorKey } from '#service/devchain/chain/signing.ts';
import { genesisWallet } from '#service/devchain/zerostate/wallet.ts';
import type { Faults } from '#test/service/pool/network.ts';
import type { TestWallet } from '#test/support/wallet.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

// A private network with traffic, in a process of its own: a block a second, each wallet sends with each block.

/** What the process is told. */
export type Order =
  | { readonly kind: 'faults'; readonly index: number; readonly faults: Faults }
  | { readonly kind: 'count'; readonly mcSeqno: number };

/** What it tells: where it listens, once; each head; so many blocks up to a masterchain block. */
export type Answer =
  | {
      readonly kind: 'started';
      readonly zero: { readonly rootHash: Uint8Array; readonly fileHash: Uint8Array };
      readonly liteServers: readonly { readonly host: string; readonly port: number; readonly publicKey: Uint8Array }[];
    }
  | { readonly kind: 'head'; readonly seqno: number }
  | { readonly kind: 'counted'; readonly blocks: number };

const SERVERS = 3;
const WALLETS = 40;
const FORTUNE = 1_000_000_000_000_000n;
const BLOCK_SECONDS = 1;

function tell(answer: Answer): void {
  process.send?.(answer);
}

const seeds = Array.from({ length: WALLETS }, (_, index) => Buffer.alloc(32, index + 1));
const wallets = seeds.map((seed) => ({ wallet: testWallet(seed), seqno: 0 }));
const network = await createPrivateNetwork(
  {
    blockSeconds: BLOCK_SECONDS,
    servers: Array.from({ length: SERVERS }, () => ({})),
    accounts: seeds.map((seed) => genesisWallet(validatorKey(seed).publicKey, FORTUNE)),
  },
  { logger: pino({ level: 'silent' }), register: new Registry() },
);

/** Each wallet has one message on its way at most: the next one comes when that was taken. */
function sendRound(): void {
  for (const [index, one] of wallets.entries()) {
    const to = wallets[(index * 7 + one.seqno + 1) % WALLETS]!.wallet;
    try {
      network.send(messageTo(one, to));
      one.seqno += 1;
    } catch {
      // The last message still waits for a block.
    }
  }
}

function messageTo({ wallet, seqno }: { wallet: TestWallet; seqno: number }, to: TestWallet): Buffer {
  return wallet.send(seqno, [transfer(to.address, 1_000_000n)]);
}

network.onHead(({ id }) => {
  tell({ kind: 'head', seqno: id.seqno });
  sendRound();
});

process.on('message', (order: Order) => {
  if (order.kind === 'count') {
    const made = [...network.chain.along(-1, 1n << 63n), ...network.chain.along(0, 1n << 63n)];
    const blocks = made.filter(({ masterchainSeqno }) => masterchainSeqno <= order.mcSeqno).length;
    return tell({ kind: 'counted', blocks });
  }
  const server = network.liteServers[order.index];
  void server?.setFaults(order.faults);
  server?.resetConnections();
});
process.on('disconnect', () => void network.close().then(() => process.exit()));

const { rootHash, fileHash } = network.chain.zeroStates[0]!.id;
tell({
  kind: 'started',
  zero: { rootHash, fileHash },
  liteServers: network.liteServers.map(({ host, port, publicKey }) => ({ host, port, publicKey })),
});
