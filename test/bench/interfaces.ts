import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Registry } from 'prom-client';

import { parseAddress } from '#service/decode/address.ts';
import { readChangedAccount } from '#service/interfaces/account-code.ts';
import {
  createDetector,
  type ChangedAccount,
  type DetectionWorld,
  type Detector,
} from '#service/interfaces/detector.ts';
import { chainWorld } from '#test/service/interfaces/chain-world.ts';
import { startTvm } from '#test/service/tvm/recorded-world.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';
import { median, type Bench, type BenchResult } from './bench.ts';

/** Each figure is the median of so many passes. */
const PASSES = 5;

/** Accounts of a pass: those of a kind, again and again. */
const DETECTIONS = 60;

function start(): Detector {
  return createDetector({ network: 'custom' }, { register: new Registry() });
}

/** Detections in a second: of a detector that remembers, or of a new one for each account. */
async function detectionsPerSecond(
  world: DetectionWorld,
  accounts: readonly ChangedAccount[],
  remembers: boolean,
): Promise<number> {
  const one = start();
  const rates: number[] = [];
  for (let pass = 0; pass <= PASSES; pass++) {
    const detectors = Array.from({ length: DETECTIONS }, () => (remembers ? one : start()));
    const startedMs = performance.now();
    await Promise.all(detectors.map((detector, index) => detector.detect(world, accounts[index % accounts.length]!)));
    rates.push((DETECTIONS * 1000) / (performance.now() - startedMs));
  }
  return median(rates.slice(1));
}

const kinds = [
  ['jetton wallets', /^jetton_wallet_/],
  ['jetton wallets whose code is a library', /^stable_wallet_/],
  ['NFT items', /^nft_\d/],
  ['plain wallets', /^w\d+$/],
] as const;

export const bench: Bench = {
  about:
    'Accounts told by their get-methods in one thread of the emulator, their states at hand: confirmed from memory, confirmed each time, and with a visit for each method',
  async run() {
    const [folder] = recordingDirs();
    const chain = await recordedChain(folder!);
    const labels = JSON.parse(readFileSync(join(folder!, 'accounts.json'), 'utf8')) as Record<
      string,
      { address: string }
    >;
    const { tvm } = startTvm({ queueMax: 100_000 });
    const results: BenchResult[] = [];
    try {
      const [together, apart] = [chainWorld(chain, tvm), chainWorld(chain, tvm, { visits: 'one by one' })];
      for (const [name, pattern] of kinds) {
        const found = Object.entries(labels).filter(([label]) => pattern.test(label));
        const accounts = await Promise.all(
          found.map(([, { address }]) => readChangedAccount(together, parseAddress(address)!)),
        );
        const value = await detectionsPerSecond(together, accounts, true);
        const anew = await detectionsPerSecond(together, accounts, false);
        const single = await detectionsPerSecond(apart, accounts, false);
        const unit = 'accounts/s';
        results.push({ name: `${name}, confirmed from memory`, value, unit });
        results.push({
          name: `${name}, nothing remembered`,
          value: anew,
          unit,
          baseline: { name: 'a visit for each method', value: single },
          ratio: anew / single,
        });
      }
    } finally {
      await tvm.close();
    }
    return results;
  },
};
