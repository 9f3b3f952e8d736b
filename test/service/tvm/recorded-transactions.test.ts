import { afterAll, describe, expect, it } from 'vitest';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readExtBlockRef } from '#service/decode/tlb/ext-block-ref.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { Chain, ChainBlock } from '#service/devchain/chain/chain.ts';
import { NO_TRANSACTION, openShardAccount, writeShardAccount } from '#service/tvm/shard-account.ts';
import type { EmulationRequest } from '#service/tvm/tvm.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { configAfter, librariesAfter, previousBlocksOf, startTvm } from './recorded-world.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

// Executes transactions of recorded blocks again. From the state before the block they must become the same, hash by hash.

/** Number of executed transactions for each recording: a sample over its whole length. */
const SAMPLE = 400;

const { tvm } = startTvm();
afterAll(() => tvm.close());

for (const folder of recordingDirs()) {
  describe(`the transactions of ${folder.split('/').at(-1)}`, async () => {
    const chain = await recordedChain(folder);
    const all = busyBlocks(chain);
    const step = Math.max(1, Math.floor(countOf(all) / SAMPLE));
    const sample = all.filter((_, index) => index % step === 0);

    it('the sample has enough transactions, and of more than one kind', () => {
      const kinds = new Set(sample.flatMap(({ transactions }) => transactions.map(({ descr }) => descr.kind)));
      expect([...kinds].toSorted()).toEqual(['ordinary', 'tickTock']);
      expect(countOf(sample)).toBeGreaterThanOrEqual(Math.min(200, countOf(all)));
    });

    it('the transactions have the same hashes when they are executed again', async () => {
      const wrong: string[] = [];
      for (const { block, transactions } of sample) wrong.push(...(await executeAgain(chain, block, transactions)));
      expect(wrong).toEqual([]);
    });
  });
}

type Work = { readonly block: ChainBlock; readonly transactions: Transaction[] };

/** Returns blocks with transactions. Blocks of the masterchain are thinned, because they have mostly ticks and tocks. */
function busyBlocks(chain: Chain): Work[] {
  const ends = [0n, 1n << 63n].flatMap((prefix) => chain.along(0, prefix));
  const basechain = [...new Map(ends.map((block) => [block.id.rootHash.toString('hex'), block])).values()];
  const masterchain = Array.from({ length: chain.lastSeqno }, (_, index) => chain.masterchain(index + 1)!);
  const works = [basechain, masterchain.filter((_, index) => index % 20 === 1)].flatMap((blocks) =>
    blocks.map((block) => {
      const boc = chain.parse(block);
      return { block, transactions: readBlockTransactions(boc, boc.roots[0]!) };
    }),
  );
  return works.filter(({ transactions }) => transactions.length > 0);
}

function countOf(works: readonly Work[]): number {
  return works.reduce((sum, { transactions }) => sum + transactions.length, 0);
}

/** Executes a block's transactions in the order of each account. Returns the names of transactions with another hash. */
async function executeAgain(chain: Chain, block: ChainBlock, transactions: readonly Transaction[]): Promise<string[]> {
  const boc = chain.parse(block);
  const reference = masterchainBlockBefore(chain, block);
  const world = {
    config: configAfter(chain, reference),
    previousBlocks: previousBlocksOf(chain, reference.id.seqno),
    randSeed: readBlockExtra(boc, readBlock(boc, boc.roots[0]!).extra).randSeed,
    fetchLibrary: librariesAfter(chain, reference),
  };
  const accounts = new Map<string, Buffer>();
  const wrong: string[] = [];
  for (const transaction of transactions) {
    const { cell, account, lt, utime, descr } = transaction;
    const key = account.toString('hex');
    const result = await tvm.emulateTransaction({
      ...world,
      shardAccount: openShardAccount(accounts.get(key) ?? accountBefore(chain, block, account)),
      message: messageOf(boc, transaction),
      lt,
      utime,
    });
    const expected = boc.hash(cell).toString('hex');
    if (result.kind === 'transaction') accounts.set(key, result.shardAccount);
    const found = result.kind === 'transaction' ? rootHash(result.transaction) : result.error;
    if (found !== expected) wrong.push(`${block.id.workchain}:${key} ${lt} ${descr.kind}: ${found}`);
  }
  return wrong;
}

function messageOf(boc: ReturnType<Chain['parse']>, { inMessage, descr }: Transaction): EmulationRequest['message'] {
  if (inMessage !== undefined) return writeBoc(boc, [inMessage.cell]);
  return descr.kind === 'tickTock' && descr.isTock ? 'tock' : 'tick';
}

/** Returns the masterchain block whose state a block was made on. */
function masterchainBlockBefore(chain: Chain, block: ChainBlock): ChainBlock {
  const { header, id } = block;
  const seqno =
    id.workchain === MASTERCHAIN
      ? id.seqno - 1
      : readExtBlockRef(new CellSlice(chain.parse(block), header.masterRef!)).seqno;
  return chain.masterchain(seqno)!;
}

function accountBefore(chain: Chain, block: ChainBlock, account: Buffer): Buffer {
  const { states } = chain;
  for (const id of block.previous) {
    const state = chain.find(id)?.state ?? chain.zeroStates.find((zero) => zero.id.workchain === id.workchain)!.state;
    const found = findShardAccount(states, readShardState(states, state).accounts, account);
    if (found === undefined) continue;
    const last = { hash: found.lastTransactionHash, lt: found.lastTransactionLt };
    return writeShardAccount({ table: states, cell: found.account }, last);
  }
  return writeShardAccount(undefined, NO_TRANSACTION);
}

function rootHash(bytes: Buffer): string {
  const boc = parseBoc(bytes);
  return boc.hash(boc.roots[0]!).toString('hex');
}
