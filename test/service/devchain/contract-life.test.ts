import { Address, beginCell, Cell, contractAddress, internal } from '@ton/core';
import type { StateInit } from '@ton/core';
import { afterAll, describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { lookupHashmap } from '#service/decode/hashmap.ts';
import type { Account } from '#service/decode/tlb/account.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { listExtraCurrencies, storeExtraCurrencies } from '#service/decode/tlb/currency-collection.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { readShardState, readShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';
import { editConfig } from '#service/devchain/chain/edit-builders.ts';
import { stateOf } from '#service/devchain/chain/chain.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { blocksTakenBy, followMoney } from './money.ts';

/** `SETCP0; ACCEPT`: takes every message and does nothing. */
const acceptAll = beginCell().storeUint(0xff00f800, 32).endCell();

/** `SETCP0; ACCEPT; PUSHREF library; 2 PUSHINT; SETLIBCODE`: makes a public library of its own with every message. */
function publishing(library: Cell): Cell {
  return beginCell().storeUint(0xff00f800, 32).storeUint(0x8872fb06, 32).storeRef(library).endCell();
}

/** `SETCP0; ACCEPT; PUSHREF data; c4 POP`: is no longer what it was deployed as, without which it would thaw for nothing. */
function forgetting(data: Cell): Cell {
  return beginCell().storeUint(0xff00f800, 32).storeUint(0x88ed54, 24).storeRef(data).endCell();
}

const COIN = 1_000_000_000n;

describe('contracts on a private network', async () => {
  const network = await startPrivateNetwork();
  afterAll(() => network.close());
  const { chain } = network;
  const faucet = testWallet(network.faucet.seed);
  let seqno = 0;

  /** Sends one message from the faucet and makes blocks until nothing moves any more; all transactions on the way. */
  async function send(message: Parameters<typeof faucet.send>[1][number], blocks = 4): Promise<Transaction[]> {
    network.send(faucet.send(seqno++, [message]));
    const seen: Transaction[] = [];
    for (let step = 0; step < blocks; step++) {
      const { block } = await network.step();
      for (const one of blocksTakenBy(chain, block)) {
        const boc = chain.parse(one);
        seen.push(...readBlockTransactions(boc, boc.roots[0]!));
      }
    }
    return seen;
  }

  function accountOf({ workChain, hash }: Address): Account | undefined {
    const top = network.head();
    const home = workChain === -1 ? top.state : stateOf(chain, top.shards[0]!.block)!;
    const found = findShardAccount(chain.states, readShardState(chain.states, home).accounts, hash);
    return found && readAccount(chain.states, found.account);
  }

  function libraryOf(hash: Buffer): Buffer | undefined {
    const { libraries } = readShardStateDetails(
      chain.states,
      readShardState(chain.states, network.head().state).details,
    );
    const entry = lookupHashmap(chain.states, libraries, 256, hash);
    entry?.skip(2);
    return entry && chain.states.hash(entry.ref());
  }

  it('publish libraries in the masterchain, and others use them', async () => {
    const library = acceptAll;
    const publisher: StateInit = { code: publishing(library), data: Cell.EMPTY };
    const address = contractAddress(-1, publisher);
    await send(internal({ to: address, value: 100n * COIN, init: publisher, bounce: false }));
    expect(accountOf(address)?.state.kind).toBe('active');
    expect(libraryOf(library.hash())).toEqual(library.hash());

    const reference = beginCell().storeUint(2, 8).storeBuffer(library.hash()).endCell({ exotic: true });
    const user: StateInit = { code: reference, data: Cell.EMPTY };
    const seen = await send(internal({ to: contractAddress(0, user), value: COIN, init: user, bounce: false }));
    const ran = seen.find(({ account }) => account.equals(contractAddress(0, user).hash));
    expect(ran?.descr).toMatchObject({ kind: 'ordinary', aborted: false, compute: { kind: 'vm', success: true } });
  });

  it('publish and withdraw libraries when they are put into the masterchain and taken away by hand', async () => {
    const library = beginCell().storeUint(0xf800, 16).storeUint(77, 32).endCell();
    const publisher: StateInit = { code: publishing(library), data: Cell.EMPTY };
    const address = contractAddress(-1, publisher);
    await send(internal({ to: address, value: 100n * COIN, init: publisher, bounce: false }));
    expect(libraryOf(library.hash())).toEqual(library.hash());
    const { states } = chain;
    const { accounts } = readShardState(states, network.head().state);
    const place = { workchain: -1, id: address.hash };
    const account = findShardAccount(states, accounts, place.id)!.account;
    const boc = parseBoc(writeBoc(states, [account]));

    await network.step([{ ...place, edit: () => undefined }]);
    expect(libraryOf(library.hash())).toBeUndefined();
    await network.step([{ ...place, edit: (store) => store.import(boc, boc.roots[0]!) }]);
    expect(libraryOf(library.hash())).toEqual(library.hash());
  });

  it('freeze when they cannot pay for their storage, and are deleted when the debt grows', async () => {
    const big = beginCell().storeUint(7, 900).endCell();
    const init: StateInit = { code: forgetting(big), data: beginCell().storeUint(1, 8).endCell() };
    const address = contractAddress(-1, init);
    await send(internal({ to: address, value: 10_000_000n, init, bounce: false }));
    expect(accountOf(address)?.state.kind).toBe('active');
    await network.advance(10_000_000);
    await send(transfer(address, 1n));
    expect(accountOf(address)?.state.kind).toBe('frozen');
    await network.advance(400_000_000);
    const seen = await send(transfer(address, 1n));
    const last = seen.findLast(({ account }) => account.equals(address.hash));
    expect(last?.endStatus).toMatch(/uninit|nonexist/);
  });

  it('send back what they throw at', async () => {
    const init: StateInit = { code: beginCell().storeUint(0xff00f2c1f4, 40).endCell(), data: Cell.EMPTY };
    const seen = await send(internal({ to: contractAddress(0, init), value: COIN, init, bounce: true }));
    const thrown = seen.find(({ account }) => account.equals(contractAddress(0, init).hash));
    expect(thrown?.descr).toMatchObject({ aborted: true, bounce: { kind: 'ok' } });
  });

  it('get the extra currencies that the configuration wants', async () => {
    const minter = Address.parse(`-1:${'55'.repeat(32)}`);
    await network.step([
      editConfig((states) => {
        const dictionary = storeExtraCurrencies(states, [{ id: 100, amount: 12_345n }]);
        return new Map([[7, new BitWriter().maybeRef(dictionary).finish(states)]]);
      }),
    ]);
    for (let step = 0; step < 2; step++) await network.step();
    expect(listExtraCurrencies(chain.states, accountOf(minter)?.balance.extra)).toEqual([{ id: 100, amount: 12_345n }]);
  });

  it('made and lost no coin in all this', () => {
    expect(followMoney(chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });
});
