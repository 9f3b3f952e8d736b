import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beginCell, Cell, contractAddress, internal } from '@ton/core';
import type { Address } from '@ton/core';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { BitWriter } from '#service/decode/bit-writer.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { AccountPlace } from '#service/devchain/collator/missing-account.ts';
import { hasLibrary } from '#service/devchain/collator/public-libraries.ts';
import type { ForkSource } from '#service/devchain/fork/fork.ts';
import { openPersistedNetwork } from '#service/devchain/storage/persisted-network.ts';
import type { PersistedNetwork } from '#service/devchain/storage/persisted-network.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { createPrivateNetwork } from '#service/devchain/private-network.ts';
import { accountAt } from '#service/devchain/chain/snapshots.ts';
import { openState } from '#service/devchain/chain/open-as-node.ts';
import { sendMessage } from '#service/liteserver/functions.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import { forkOf } from '#test/support/forked-network.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { putAccount } from '#test/support/put-account.ts';
import { testWallet } from '#test/support/wallet.ts';
import { blocksTakenBy } from '../money.ts';

const COIN = 1_000_000_000n;

/** `SETCP0; ACCEPT; PUSHINT` of a number to tell it by: takes every message and does nothing. */
const acceptAll = (number: number): Cell =>
  beginCell().storeUint(0xff00f800, 32).storeUint(0x80, 8).storeUint(number, 8).endCell();

/** `library#02 hash:bits256`. */
const named = (hash: Buffer): Cell => beginCell().storeUint(2, 8).storeBuffer(hash).endCell({ exotic: true });

/** A library of data that names the next one. */
const pointing = (next: Cell): Cell => beginCell().storeRef(named(next.hash())).endCell();

const place = (byte: number): AccountPlace => ({ workchain: 0, id: Buffer.alloc(32, byte) });

/** Five libraries, each of which names the one before. */
const chained = [acceptAll(50)];
for (let length = 1; length < 5; length++) chained.push(pointing(chained[length - 1]!));

const [shared, gone, lost, sent, kept, published] = [1, 2, 3, 4, 5, 6].map(acceptAll) as [
  Cell,
  Cell,
  Cell,
  Cell,
  Cell,
  Cell,
];
const huge = hugeLibrary();

/** Accounts of the other network by the byte that their addresses repeat. */
const accounts: Readonly<Record<number, { readonly code: Cell; readonly data: Cell }>> = {
  0xa1: { code: named(shared.hash()), data: Cell.EMPTY },
  0xa2: { code: acceptAll(0), data: pointing(shared) },
  0xb1: { code: acceptAll(0), data: named(chained.at(-1)!.hash()) },
  0xc1: { code: named(gone.hash()), data: Cell.EMPTY },
  0xc2: { code: acceptAll(0), data: pointing(gone) },
  0xd1: { code: named(lost.hash()), data: Cell.EMPTY },
  0xe1: { code: acceptAll(0), data: named(huge.hash) },
  0xf1: { code: named(kept.hash()), data: pointing(gone) },
  0xf2: { code: named(kept.hash()), data: pointing(gone) },
};

/** More than all public libraries of a fork may have together. */
function hugeLibrary(): { readonly hash: Buffer; readonly bag: Buffer } {
  const store = createCellStore();
  let number = 0;
  const grow = (depth: number): number => {
    const writer = new BitWriter().uint(number++, 32);
    for (let word = 0; word < 30; word++) writer.uint(word, 32);
    const children = depth > 0 ? 4 : 0;
    for (let child = 0; child < children; child++) writer.ref(grow(depth - 1));
    return writer.finish(store);
  };
  const cell = grow(7);
  return { hash: store.hash(cell), bag: writeBoc(store, [cell]) };
}

function has(network: PrivateNetwork, hash: Buffer): boolean {
  const { states } = network.chain;
  return hasLibrary(states, openState(states, network.head().state).libraries, hash);
}

/** All transactions of the blocks of some steps. */
async function run(network: PrivateNetwork, steps = 3): Promise<Transaction[]> {
  const seen: Transaction[] = [];
  for (let step = 0; step < steps; step++) {
    const { block } = await network.step();
    for (const one of blocksTakenBy(network.chain, block)) {
      const boc = network.chain.parse(one);
      seen.push(...readBlockTransactions(boc, boc.roots[0]!));
    }
  }
  return seen;
}

const succeeded = { kind: 'ordinary', aborted: false, compute: { kind: 'vm', success: true } };
const transactionOf = (seen: readonly Transaction[], id: Buffer): unknown =>
  seen.find(({ account }) => account.equals(id))?.descr;

const wakeUp = (to: Address | AccountPlace): ReturnType<typeof internal> =>
  internal({
    to: 'id' in to ? `${to.workchain}:${to.id.toString('hex')}` : to,
    value: COIN,
    bounce: false,
  });

describe('public libraries of a forked network', () => {
  let origin: PrivateNetwork;
  const libraries = new Map<string, Buffer>();

  beforeAll(async () => {
    origin = await startPrivateNetwork();
    await origin.step(Object.entries(accounts).map(([byte, init]) => putAccount(place(Number(byte)), init)));
    for (const library of [shared, lost, sent, kept, published, ...chained]) {
      libraries.set(library.hash().toString('hex'), library.toBoc());
    }
    libraries.set(huge.hash.toString('hex'), huge.bag);
  });
  afterAll(() => origin.close());

  type Fork = {
    readonly network: PrivateNetwork;
    /** Hashes that the other network was asked for, in hex. */
    readonly asked: string[];
    readonly log: string[];
    /** The other network can be reached, or not. */
    reachable: boolean;
    close(): Promise<void>;
  };

  async function startFork(keptNetwork?: PersistedNetwork): Promise<Fork> {
    const [asked, log]: [string[], string[]] = [[], []];
    const there = forkOf(origin.chain);
    const source: ForkSource = {
      ...there,
      readLibrary(hash) {
        if (!fork.reachable) return Promise.reject(new Error('nobody answers'));
        asked.push(hash.toString('hex'));
        return Promise.resolve(libraries.get(hash.toString('hex')));
      },
    };
    const logger = pino({}, { write: (line: string) => void log.push(line) });
    const dependencies = { logger, register: new Registry(), fork: source };
    const network = await createPrivateNetwork({}, { ...dependencies, ...(keptNetwork && { stored: keptNetwork }) });
    const fork: Fork = {
      network,
      asked,
      log,
      reachable: true,
      async close() {
        await network.close();
        keptNetwork?.close();
      },
    };
    return fork;
  }

  async function startClosedFork(): Promise<Fork> {
    const fork = await startFork();
    onTestFinished(() => fork.close());
    return fork;
  }

  it('come over with the account whose code they are, before a message runs on it', async () => {
    const { network, asked } = await startClosedFork();
    const faucet = testWallet(network.faucet.seed);
    network.send(faucet.send(0, [wakeUp(place(0xa1))]));
    const seen = await run(network);
    expect(transactionOf(seen, place(0xa1).id)).toMatchObject(succeeded);
    expect(has(network, shared.hash())).toBe(true);
    expect(asked).toEqual([shared.hash().toString('hex')]);
  });

  it('are read once, whoever names them', async () => {
    const { network, asked } = await startClosedFork();
    await Promise.all([network.ensure(place(0xa1)), network.ensure(place(0xa2))]);
    expect(has(network, shared.hash())).toBe(true);
    expect(asked).toEqual([shared.hash().toString('hex')]);
  });

  it('come over with those that name them, as many steps as are looked at', async () => {
    const { network, asked } = await startClosedFork();
    await network.ensure(place(0xb1));
    expect(chained.toReversed().map((library) => has(network, library.hash()))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(asked).toHaveLength(4);
  });

  it('are asked for once when they are not there, and the account comes without', async () => {
    const { network, asked } = await startClosedFork();
    await network.ensure(place(0xc1));
    await network.ensure(place(0xc2));
    expect(accountAt(network.chain, network.head(), place(0xc2))).toBeDefined();
    expect(has(network, gone.hash())).toBe(false);
    expect(asked).toEqual([gone.hash().toString('hex')]);
  });

  it('keep their account away while the other network is', async () => {
    const fork = await startClosedFork();
    const { network } = fork;
    fork.reachable = false;
    const code = 'fork_unreachable';
    const message = expect.stringContaining(`library ${lost.hash().toString('hex')} was never read`) as string;
    await expect(network.ensure(place(0xd1))).rejects.toMatchObject({ code, message });
    expect(accountAt(network.chain, network.head(), place(0xd1))).toBeUndefined();
    fork.reachable = true;
    await network.ensure(place(0xd1));
    expect(accountAt(network.chain, network.head(), place(0xd1))).toBeDefined();
    expect(has(network, lost.hash())).toBe(true);
  });

  it('come over with a message that names them: a contract deployed with such a code runs', async () => {
    const { network } = await startClosedFork();
    const faucet = testWallet(network.faucet.seed);
    const init = { code: named(sent.hash()), data: Cell.EMPTY };
    const address = contractAddress(0, init);
    const client = createLiteServer(
      { name: 'fork', ...network.liteServers[0]! },
      { logger: pino({ level: 'silent' }), register: new Registry() },
    );
    onTestFinished(() => client.close());
    const message = internal({ to: address, value: COIN, bounce: false, init });
    await client.query(sendMessage, { body: faucet.send(0, [message]) }, { timeoutMs: 10_000 });
    expect(has(network, sent.hash())).toBe(true);
    expect(transactionOf(await run(network), address.hash)).toMatchObject(succeeded);
  });

  it('do not come beyond the bytes that all of them may have, which is said', async () => {
    const { network, log } = await startClosedFork();
    await network.ensure(place(0xe1));
    expect(accountAt(network.chain, network.head(), place(0xe1))).toBeDefined();
    expect(has(network, huge.hash)).toBe(false);
    expect(log.join('')).toContain('the fork has all the libraries that it can');
  });

  it('stay when an account that published them here is gone', async () => {
    const { network } = await startClosedFork();
    await network.ensureLibraries(parseBoc(named(published.hash()).toBoc()));
    // `SETCP0; ACCEPT; PUSHREF library; PUSHINT; SETLIBCODE`, twice: published with the first message, withdrawn with the second.
    const publisher = { workchain: -1, id: Buffer.alloc(32, 0x77) };
    const keeping = (mode: number): Cell =>
      beginCell()
        .storeUint(0xff00f800, 32)
        .storeUint(0x88, 8)
        .storeUint(0x70 + mode, 8)
        .storeUint(0xfb06, 16)
        .storeRef(published)
        .endCell();
    const faucet = testWallet(network.faucet.seed);
    for (const [seqno, mode] of [2, 0].entries()) {
      await network.step([putAccount(publisher, { code: keeping(mode), data: Cell.EMPTY })]);
      network.send(faucet.send(seqno, [wakeUp(publisher)]));
      expect(transactionOf(await run(network, 4), publisher.id)).toMatchObject(succeeded);
      expect(has(network, published.hash())).toBe(true);
    }
  });

  it('are there, and known not to be there, in a fork that is kept, whether the other network is there or not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-kept-libraries-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const open = (): PersistedNetwork => openPersistedNetwork(folder, { logger: pino({ level: 'silent' }) });
    const first = await startFork(open());
    await first.network.ensure(place(0xf1));
    expect(first.asked.toSorted()).toEqual([kept, gone].map((one) => one.hash().toString('hex')).toSorted());
    await first.close();

    const again = await startFork(open());
    onTestFinished(() => again.close());
    again.reachable = false;
    expect(has(again.network, kept.hash())).toBe(true);
    await again.network.ensure(place(0xf2));
    expect(accountAt(again.network.chain, again.network.head(), place(0xf2))).toBeDefined();
    again.network.send(testWallet(again.network.faucet.seed).send(0, [wakeUp(place(0xf2))]));
    expect(transactionOf(await run(again.network), place(0xf2).id)).toMatchObject(succeeded);
  });
});
