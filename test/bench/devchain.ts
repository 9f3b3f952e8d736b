import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { genesisWallet } from '#service/devchain/zerostate/wallet.ts';
import { validatorKey } from '#service/devchain/chain/signing.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import type { TestWallet } from '#test/support/wallet.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import type { Bench, BenchResult } from './bench.ts';
import { cpuMs, median } from './bench.ts';

const RATE_GOAL = 300;
const BLOCK_MS_GOAL = 400;
const START_MS_GOAL = 2000;

const WALLETS = 300;
const ROUNDS = 4;
/** A message from outside and the one that it sends on: two transactions. */
const SMALL_BLOCK_MESSAGES = 50;
const EMPTY_BLOCKS = 1000;
const WARM_BLOCKS = 200;
/** A network that has as many blocks and states as it may after some 200 steps, and as many ids of blocks after 2,000. */
const NARROW = { stateCellsMax: 5000, blockBytesMax: 2_000_000 };
const NARROW_BLOCKS = 2100;
const FORTUNE = 1_000_000_000_000n;

function seedOf(index: number): Buffer {
  const seed = Buffer.alloc(32);
  seed.writeUInt32BE(index + 1);
  return seed;
}

/** Sends a message from each of the first wallets to another one, and makes the block: CPU of sending and of making, in milliseconds. */
async function sendRound(
  network: PrivateNetwork,
  wallets: readonly TestWallet[],
  seqno: number,
): Promise<{ transactions: number; checkMs: number; blockMs: number }> {
  const messages = wallets.map((wallet, index) =>
    wallet.send(seqno, [transfer(wallets[(index * 7 + 1) % wallets.length]!.address, 1_000_000_000n)]),
  );
  const checkMs = await cpuMs(messages.length, () => messages.forEach((message) => network.send(message)));
  let transactions = 0;
  const blockMs = await cpuMs(1, async () => {
    transactions = (await network.step()).transactions;
  });
  return { transactions, checkMs, blockMs };
}

/** Bytes in use after garbage is collected. */
function usedBytes(): number {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** CPU time: on a machine that is busy with other things a clock would measure those. */
async function measureStart(): Promise<number> {
  let network: PrivateNetwork | undefined;
  const tookMs = await cpuMs(1, async () => {
    network = await startPrivateNetwork();
  });
  await network?.close();
  return tookMs;
}

/** Bytes that a thousand more empty steps take, after so many that are not counted. */
async function measureMemory(options: PrivateNetworkOptions, uncounted: number, counted: number): Promise<number> {
  const network = await startPrivateNetwork(options);
  for (let block = 0; block < uncounted; block++) await network.step();
  const before = usedBytes();
  for (let block = 0; block < counted; block++) await network.step();
  const used = usedBytes() - before;
  await network.close();
  return (used / counted) * 1000;
}

async function run(): Promise<BenchResult[]> {
  const starts: number[] = [];
  for (let round = 0; round < 3; round++) starts.push(await measureStart());
  const seeds = Array.from({ length: WALLETS }, (_, index) => seedOf(index));
  const network = await startPrivateNetwork({
    accounts: seeds.map((seed) => genesisWallet(validatorKey(seed).publicKey, FORTUNE)),
    transactionsMax: 2 * WALLETS + 100,
  });
  const wallets = seeds.map(testWallet);
  const small: number[] = [];
  const rates: number[] = [];
  const checks: number[] = [];
  // The first rounds warm the machine up.
  for (let round = 0; round < ROUNDS; round++) {
    small.push((await sendRound(network, wallets.slice(0, SMALL_BLOCK_MESSAGES), round)).blockMs);
  }
  for (let round = 0; round < ROUNDS; round++) {
    const { transactions, blockMs, checkMs } = await sendRound(network, wallets.slice(SMALL_BLOCK_MESSAGES), round);
    rates.push((transactions / blockMs) * 1000);
    checks.push(checkMs);
  }
  await network.close();
  const [rate, blockMs, startMs] = [median(rates.slice(1)), median(small.slice(1)), Math.min(...starts)];
  const memory = await measureMemory({}, WARM_BLOCKS, EMPTY_BLOCKS);
  const memoryWhenFull = await measureMemory(NARROW, NARROW_BLOCKS, EMPTY_BLOCKS);
  return [
    { name: 'transactions', value: rate, unit: 'a second of CPU', goal: `>= ${RATE_GOAL}`, met: rate >= RATE_GOAL },
    {
      name: 'step with 100 transactions of wallets',
      value: blockMs,
      unit: 'ms CPU',
      goal: `<= ${BLOCK_MS_GOAL} ms`,
      met: blockMs <= BLOCK_MS_GOAL,
    },
    { name: 'check of a message from outside', value: median(checks), unit: 'ms CPU' },
    {
      name: 'start to the first blocks',
      value: startMs,
      unit: 'ms CPU',
      goal: `<= ${START_MS_GOAL} ms`,
      met: startMs <= START_MS_GOAL,
    },
    { name: 'memory of 1000 empty steps', value: memory / 2 ** 20, unit: 'MiB' },
    { name: 'memory of 1000 more when the oldest make room', value: memoryWhenFull / 2 ** 20, unit: 'MiB' },
  ];
}

export const bench: Bench = {
  about:
    'the private network: transactions of wallets executed and put into blocks, checks of messages, start, memory; a step is a block of the basechain and one of the masterchain',
  run,
};
