import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Cell, loadTransaction } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { spreadOf } from '#test/support/volume.ts';
import { coreTransaction } from '../core-views.ts';
import { ourTransaction } from '../our-views.ts';
import { recordedBlockFiles, tapeBlocks } from '../recorded.ts';

type Compared = { readonly transactions: number; readonly different: string[] };

/** Compares every transaction of a block, and the hash of every message, with @ton/core. */
function compareWithCore(bytes: Buffer): Compared {
  const boc = parseBoc(bytes);
  const transactions = readBlockTransactions(boc, boc.roots[0]!);
  const different: string[] = [];
  for (const ours of transactions) {
    const cell = Cell.fromBoc(writeBoc(boc, [ours.cell]))[0]!;
    const theirs = loadTransaction(cell.beginParse());
    const sameFields = isDeepStrictEqual(ourTransaction(boc, ours), coreTransaction(theirs));
    const messages = cell.refs[0]!;
    const inMessage = ours.inMessage === undefined || boc.hash(ours.inMessage.cell).equals(messages.refs[0]!.hash());
    const isSame = sameFields && inMessage && boc.hash(ours.cell).equals(cell.hash());
    if (!isSame) different.push(`${ours.lt}`);
  }
  return { transactions: transactions.length, different };
}

const files = recordedBlockFiles();
const tape = spreadOf(tapeBlocks(), 300);

describe.skipIf(skipLoudly(files.length === 0, { what: 'mainnet blocks', why: 'no fixtures' }))(
  'mainnet blocks',
  () => {
    it.each(files)('every transaction of $name is read like by @ton/core, field by field', ({ bytes }) => {
      const { transactions, different } = compareWithCore(bytes);
      expect(transactions).toBeGreaterThan(0);
      expect(different).toEqual([]);
    });
  },
);

describe.skipIf(skipLoudly(tape.length === 0, { what: 'recorded tapes', why: 'no fixtures' }))(
  'recorded networks',
  () => {
    it('recorded transactions are read like by @ton/core, field by field', () => {
      const different = tape.flatMap(({ name, bytes }) => {
        return compareWithCore(bytes).different.map((lt) => `${name} ${lt}`);
      });
      expect(different).toEqual([]);
    });
  },
);

type Expected = {
  readonly Accounts: Record<string, { readonly Transactions: Record<string, ExpectedTransaction> }>;
  readonly TxHashes: readonly string[];
};

type ExpectedTransaction = {
  readonly AccountAddr: string;
  readonly Lt: number;
  readonly PrevTransHash: string;
  readonly PrevTransLt: number;
  readonly Now: number;
  readonly OutMsgCnt: number;
  readonly OrigStatus: string;
  readonly EndStatus: string;
};

function byPlace(one: ExpectedTransaction, other: ExpectedTransaction): number {
  if (one.AccountAddr !== other.AccountAddr) return one.AccountAddr < other.AccountAddr ? -1 : 1;
  return one.Lt - other.Lt;
}

const expectedFiles = fixtureFiles(/\.expected\.json$/).filter((file) => existsSync(blockOf(file)));

function blockOf(expectedFile: string): string {
  return expectedFile.replace(/\.expected\.json$/, '.boc');
}

describe.skipIf(skipLoudly(expectedFiles.length === 0, { what: 'blocks decoded in Go', why: 'no fixtures' }))(
  'blocks that another implementation decoded',
  () => {
    it.each(expectedFiles)('block %s has the same transactions, statuses and hashes', (file) => {
      const expected = JSON.parse(readFileSync(file, 'utf8')) as Expected;
      const boc = parseBoc(readFileSync(blockOf(file)));
      const transactions = readBlockTransactions(boc, boc.roots[0]!);
      const seen = transactions.map((transaction) => ({
        AccountAddr: transaction.account.toString('hex'),
        Lt: Number(transaction.lt),
        PrevTransHash: transaction.prevHash.toString('hex'),
        PrevTransLt: Number(transaction.prevLt),
        Now: transaction.utime,
        OutMsgCnt: transaction.outMessageCount,
        OrigStatus: transaction.originalStatus,
        EndStatus: transaction.endStatus,
      }));
      const wanted = Object.values(expected.Accounts).flatMap((account) => Object.values(account.Transactions));
      expect(seen).toEqual(wanted.toSorted(byPlace));
      const hashes = transactions.map(({ cell }) => boc.hash(cell).toString('hex'));
      expect(hashes.toSorted()).toEqual([...expected.TxHashes].toSorted());
    });
  },
);
