import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Registry } from 'prom-client';

import { parseAddress } from '#service/decode/address.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { methodIds } from '#service/decode/method-ids.ts';
import { createDetector, type ChangedAccount, type DetectionWorld } from '#service/interfaces/detector.ts';
import type { AccountView } from '#service/live/account-view.ts';
import type { AccountId } from '#service/live/accounts.ts';
import type { Chain } from '#service/devchain/chain.ts';
import { TvmError } from '#service/tvm/errors.ts';
import type { MethodSubject, Tvm } from '#service/tvm/tvm.ts';
import {
  accountAt,
  bocOf,
  configAfter,
  librariesAfter,
  previousBlocksOf,
  rebuildChain,
  startTvm,
} from '#test/service/tvm/recorded-world.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { median, type Bench, type BenchResult } from './bench.ts';

/** Each figure is the median of so many passes. */
const PASSES = 5;

/** Accounts of a pass: those of a kind, again and again. */
const DETECTIONS = 60;

type Visits = 'together' | 'one by one';

/** The recorded chain at its end: accounts at once, and their get-methods in the emulator. */
function worldOf(chain: Chain, tvm: Tvm, visits: Visits): DetectionWorld {
  const last = chain.masterchain(chain.lastSeqno)!;
  const shared = {
    config: configAfter(chain, last),
    previousBlocks: previousBlocksOf(chain, chain.lastSeqno),
    fetchLibrary: librariesAfter(chain, last),
    randSeed: Buffer.alloc(32),
  };
  const views = new Map<string, AccountView>();
  const view = (account: AccountId): AccountView => {
    const key = `${account.workchain}:${account.id.toString('hex')}`;
    const known = views.get(key) ?? viewOf(chain, account);
    views.set(key, known);
    return known;
  };
  return {
    readAccount: async (account) => view(account),
    runMethods: async ({ account: id, calls, gasLimit }) => {
      const account = view(id);
      const { code, data, balance, shardUtime: utime } = account;
      const subject: MethodSubject = { ...shared, code, data, balance, utime, address: id, gasLimit };
      const results =
        visits === 'together'
          ? await tvm.runGetMethods({ ...subject, calls })
          : await Promise.all(calls.map((call) => tvm.runGetMethod({ ...subject, ...call })));
      return { account, runs: results.map((result) => (result instanceof TvmError ? undefined : result)) };
    },
    runMethod: () => Promise.reject(new Error('not asked here')),
    readDnsRoot: async () => undefined,
  };
}

function viewOf(chain: Chain, account: AccountId): AccountView {
  const { block, account: state } = accountAt(chain, chain.lastSeqno, account);
  const init = state?.state.kind === 'active' ? state.state.init : undefined;
  return {
    account,
    code: bocOf(chain, init?.code),
    data: bocOf(chain, init?.data),
    balance: state?.balance.grams ?? 0n,
    shardUtime: block.header.utime,
    lastTransaction: { lt: 1n, hash: Buffer.alloc(32) },
  } as AccountView;
}

async function changedOf(world: DetectionWorld, account: AccountId): Promise<ChangedAccount> {
  const { code } = await world.readAccount(account);
  const table = parseBoc(code!);
  const root = table.roots[0]!;
  return { account, codeHash: table.hash(root), methods: methodIds(table, root) };
}

/** Detections in a second: of a detector that remembers, or of a new one for each account. */
async function detectionsPerSecond(
  world: DetectionWorld,
  accounts: readonly ChangedAccount[],
  remembers: boolean,
): Promise<number> {
  const start = (): ReturnType<typeof createDetector> =>
    createDetector({ network: 'custom' }, { register: new Registry() });
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
    const chain = await rebuildChain(folder!);
    const labels = JSON.parse(readFileSync(join(folder!, 'accounts.json'), 'utf8')) as Record<
      string,
      { address: string }
    >;
    const { tvm } = startTvm({ queueMax: 100_000 });
    const results: BenchResult[] = [];
    try {
      const [together, apart] = [worldOf(chain, tvm, 'together'), worldOf(chain, tvm, 'one by one')];
      for (const [name, pattern] of kinds) {
        const found = Object.entries(labels).filter(([label]) => pattern.test(label));
        const accounts = await Promise.all(found.map(([, { address }]) => changedOf(together, parseAddress(address)!)));
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
