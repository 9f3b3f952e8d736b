import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseAddress } from '#service/decode/address.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { readChangedAccount } from '#service/interfaces/account-code.ts';
import { createDetector, type Detected, type DetectionWorld } from '#service/interfaces/detector.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import {
  createChainSnapshots,
  type ChainSnapshot,
  type ChainSnapshots,
} from '#service/live/contracts/chain-snapshot.ts';
import { createLiveTokens, type Token } from '#service/live/tokens/tokens.ts';
import { accountKey, accountOfKey } from '#service/store/account-key.ts';
import type { Tvm } from '#service/tvm/tvm.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { startTvm } from '#test/service/tvm/recorded-world.ts';
import { metric, openPool, startNetwork, until, within, type PoolUnderTest } from '../pool/network.ts';

const [recordingDir] = recordingDirs();
const recorded = JSON.parse(readFileSync(join(recordingDir!, 'accounts.json'), 'utf8')) as Record<
  string,
  { readonly address: string }
>;
const labels = Object.keys(recorded);

/** Kinds of the recording's accounts, by their labels. */
const kinds: readonly (readonly [label: RegExp, rows: readonly (keyof Detected)[]])[] = [
  [/^(jetton|stable)_minter$/, ['jettonMaster']],
  [/^(jetton|stable)_wallet_/, ['jettonWallet']],
  [/^(nft|dns)_collection$/, ['nftCollection']],
  [/^nft_\d+$/, ['nftItem']],
  [/^dns_item$/, ['nftItem', 'dnsEntry']],
  [/^multisig$/, ['multisig']],
  [/^ms_order_/, ['multisigOrder']],
  [/^vesting$/, ['vestingContract']],
  [/./, []],
];

let network: Devchain;
let tvm: Tvm;
let pool: PoolUnderTest;
let worlds: ChainSnapshots;
let last: number;

beforeAll(async () => {
  network = await startNetwork(1, { startBehindBlocks: 0 });
  ({ tvm } = startTvm());
  pool = openPool(network);
  worlds = createChainSnapshots({ trust: 'verified' }, { pool: pool.pool, tvm, now: () => performance.now() });
  await until(() => pool.pool.ready());
  last = (await worlds.open(undefined, within(20_000))).block.block.seqno;
});

afterAll(async () => {
  await pool.close();
  await tvm.close();
  await network.close();
});

const open = (seqno: number): Promise<ChainSnapshot> => worlds.open(seqno, within(60_000));

const accountOf = (label: string): AccountId => parseAddress(recorded[label]!.address)!;

const detector = createDetector({ network: 'custom' }, { register: new Registry() });

async function detect(world: DetectionWorld, label: string): Promise<Detected | undefined> {
  return detector.detect(world, await readChangedAccount(world, accountOf(label)));
}

function rowsOf(detected: Detected | undefined): string[] {
  return Object.keys(detected ?? {}).filter((name) => name !== 'facts' && name !== 'lastTransLt');
}

describe('the accounts of a recorded network', () => {
  it("the recorded accounts are of the kinds of their labels at the recording's end", async () => {
    const world = await open(last);
    for (const label of labels) {
      const [, rows] = kinds.find(([pattern]) => pattern.test(label))!;
      expect([label, rowsOf(await detect(world, label)).toSorted()]).toEqual([label, rows.toSorted()]);
    }
  });

  it.each([0.9, 0.6, 0.42, 0.31, 0.17, 0.05])(
    'the recorded accounts are the tokens that v2 shows at %f of the recording, or none',
    async (part) => {
      const seqno = Math.max(1, Math.floor(last * part));
      const world = await open(seqno);
      const tokens = createLiveTokens({ network: 'custom' }, { worlds });
      for (const label of labels.filter((one) => kinds.slice(0, 5).some(([pattern]) => pattern.test(one)))) {
        const shown = await tokens.readToken(accountOf(label), seqno, within(60_000)).then(
          ({ value }) => value,
          () => undefined,
        );
        expect([label, tokenOf(await detect(world, label))]).toEqual([label, shown && comparable(shown)]);
      }
    },
  );

  it('a recorded account costs one visit with its confirmation, and none if its code fits no kind', async () => {
    const register = new Registry();
    const own = createDetector({ network: 'custom' }, { register });
    const world = await open(last);
    const visits = 'ton_interfaces_visits_total';
    const results = 'ton_interfaces_accounts_total';
    const impossible: string[] = [];
    for (const label of labels) {
      const before = await metric(register, visits, { purpose: 'account' });
      const skipped = await metric(register, results, { result: 'impossible' });
      await own.detect(world, await readChangedAccount(world, accountOf(label)));
      const isSkipped = (await metric(register, results, { result: 'impossible' })) > skipped;
      if (isSkipped) impossible.push(label);
      const cost = (await metric(register, visits, { purpose: 'account' })) - before;
      expect([label, cost]).toEqual([label, isSkipped ? 0 : 1]);
    }
    const wallets = labels.filter((label) => /^(w\d+|faucet|mc|elector|config)$/.test(label));
    expect(impossible).toEqual(expect.arrayContaining(wallets));
  });

  it('recorded wallets are confirmed from the cache while their master stays unchanged', async () => {
    const register = new Registry();
    const own = createDetector({ network: 'custom' }, { register });
    const wallets = labels.filter((label) => /^(jetton|stable)_wallet_/.test(label));
    for (const seqno of [last - 2, last - 1, last]) {
      const world = await open(seqno);
      for (const label of wallets) await own.detect(world, await readChangedAccount(world, accountOf(label)));
    }
    expect(await metric(register, 'ton_interfaces_consultations_total', { source: 'emulator' })).toBe(wallets.length);
    expect(await metric(register, 'ton_interfaces_consultations_total', { source: 'memory' })).toBe(2 * wallets.length);
  });

  it('recorded accounts whose code is a library run only the methods it has from the second on', async () => {
    const own = createDetector({ network: 'custom' }, { register: new Registry() });
    const world = await open(last);
    const asked: number[] = [];
    const listening: DetectionWorld = {
      ...world,
      runMethods: (calls) => {
        if (calls.account.id.equals(accountOf('stable_wallet_w7').id)) asked.push(calls.calls.length);
        return world.runMethods(calls);
      },
    };
    for (const _ of [1, 2]) {
      await own.detect(listening, await readChangedAccount(world, accountOf('stable_wallet_w7')));
    }
    expect(asked[0]).toBeGreaterThan(10);
    expect(asked[1]).toBe(1);
  });
});

/** Returns the part of a row that v2 shows too. */
function tokenOf(detected: Detected | undefined): unknown {
  const { jettonMaster, jettonWallet, nftCollection, nftItem } = detected ?? {};
  if (jettonMaster !== undefined) return { supply: jettonMaster.total_supply, admin: jettonMaster.admin };
  if (jettonWallet !== undefined) {
    const { balance, owner, jetton, mintless_is_claimed: claimed } = jettonWallet;
    return { balance, owner, jetton, claimed };
  }
  if (nftCollection !== undefined) return { next: nftCollection.next_item_index, owner: nftCollection.owner };
  return nftItem && { index: nftItem.index, collection: nftItem.collection, owner: nftItem.owner };
}

function keyOf(account: AccountId | undefined): Buffer | null {
  return account === undefined ? null : accountKey(account);
}

function comparable(token: Token): unknown {
  switch (token.kind) {
    case 'jettonMaster':
      return { supply: token.totalSupply, admin: keyOf(token.admin) };
    case 'jettonWallet':
      return {
        balance: token.balance,
        owner: keyOf(token.owner),
        jetton: keyOf(token.jetton),
        claimed: token.mintlessIsClaimed ?? null,
      };
    case 'nftCollection':
      return { next: token.nextItemIndex, owner: keyOf(token.owner) };
    case 'nftItem':
      return { index: token.index, collection: keyOf(token.collection), owner: keyOf(token.owner) };
    default:
      return token satisfies never;
  }
}

describe('a contract that is a copy of another', () => {
  const forger: AccountId = { workchain: 0, id: Buffer.alloc(32, 0xfe) };

  /** Returns a world with an account's state at an address that it does not belong to. */
  async function worldWithCopy(label: string): Promise<DetectionWorld> {
    const world = await open(last);
    const state = await world.readShardAccount(accountOf(label));
    return world.withAccounts(new Map([[`0:${forger.id.toString('hex')}`, state]]));
  }

  it.each(['jetton_wallet_w3', 'stable_wallet_w7', 'nft_0', 'dns_item', 'ms_order_0'])(
    'a copy of %s is not of its kind, because the responsible contract does not confirm it',
    async (label) => {
      const world = await worldWithCopy(label);
      expect(rowsOf(await detect(world, label))).not.toEqual([]);
      const detected = await detector.detect(world, await readChangedAccount(world, forger));
      expect(rowsOf(detected)).toEqual([]);
      expect(detected!.facts).toEqual({});
    },
  );

  it.each(['jetton_minter', 'nft_collection', 'multisig', 'vesting'])(
    'a copy of %s is of its kind, because no contract has to confirm it',
    async (label) => {
      const world = await worldWithCopy(label);
      const detected = await detector.detect(world, await readChangedAccount(world, forger));
      expect(rowsOf(detected)).toEqual(rowsOf(await detect(world, label)));
      const [row] = Object.values(detected as unknown as Record<string, { address: Buffer }>);
      expect(accountOfKey(row!.address)).toEqual(forger);
    },
  );
});
