import { beginCell, Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';
import type { BlockId } from '#service/decode/block-id.ts';
import type { LiteServerFunction } from '#service/liteserver/functions.ts';
import type { ProofErrorCode } from '#service/proof/errors.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import * as functions from '#service/liteserver/functions.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { checkBlockData } from '#service/proof/block-data-proof.ts';
import { checkConfig } from '#service/proof/config-proof.ts';
import { checkLibrariesWithProof } from '#service/proof/library-proof.ts';
import { checkLookup } from '#service/proof/lookup-proof.ts';
import { checkShardBlockProof } from '#service/proof/shard-links.ts';
import { checkAllShards } from '#service/proof/shards-proof.ts';
import { readStateExtra } from '#service/proof/state-proof.ts';
import { checkTransactionList } from '#service/proof/transaction-list-proof.ts';
import { checkTransaction } from '#service/proof/transaction-proof.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { pruneCell, relayout } from './mutations.ts';
import type { Exchange, Recording } from './recorded.ts';
import { recordings } from './recorded.ts';

/** Lie about a recorded answer: the check that must throw, and the reason. */
type Lie = readonly [what: string, code: ProofErrorCode, tell: () => unknown];

/** Error when no such answer was recorded. */
class NotRecorded extends Error {}

function lies({ exchanges, folder }: Recording): Lie[] {
  const find: Find = (fn, fits = () => true) => {
    const found = exchanges(fn).find(fits);
    if (found === undefined) throw new NotRecorded(fn.name);
    return found;
  };
  return [accountLies, blockLies, stateLies, transactionLies].flatMap((tell) => {
    try {
      return tell(find);
    } catch (error) {
      if (!(error instanceof NotRecorded)) throw error;
      skipLoudly(true, { what: tell.name, why: `no fitting answer of ${error.message} in ${folder}` });
      return [];
    }
  });
}

type Find = <Args, Answer>(
  fn: LiteServerFunction<Args, Answer>,
  fits?: (exchange: Exchange<Args, Answer>) => boolean,
) => Exchange<Args, Answer>;

function accountLies(find: Find): Lie[] {
  const there = find(
    functions.getAccountState,
    ({ args, answer }) => args.id.workchain === -1 && args.account.workchain === 0 && answer.state.length > 0,
  );
  const absent = find(functions.getAccountState, ({ answer }) => answer.state.length === 0);
  const masterchain = find(functions.getAccountState, ({ args }) => args.account.workchain === -1);
  const shard = find(functions.getAccountState, ({ args }) => args.id.workchain === 0);
  const prove = ({ args }: typeof there, answer: typeof there.answer, account = args.account.id): unknown =>
    checkAccountState({ block: args.id, workchain: args.account.workchain, account }, answer);
  const elsewhere = Buffer.from(shard.args.account.id);
  elsewhere[0]! ^= 0x80;
  return [
    ['an account is said to be absent', 'malformed', () => prove(there, { ...there.answer, state: Buffer.alloc(0) })],
    [
      'an absent account is given a state',
      'not_contained',
      () => prove(absent, { ...absent.answer, state: there.answer.state }),
    ],
    [
      'a masterchain account gets a shard',
      'not_contained',
      () => prove(masterchain, { ...masterchain.answer, shardProof: there.answer.shardProof }),
    ],
    [
      'an account is looked up in a shard that does not hold it',
      'wrong_field',
      () => prove(shard, shard.answer, elsewhere),
    ],
    [
      'a workchain with shards is said to have none',
      'not_contained',
      () => prove(there, { ...there.answer, shardBlock: noBlock(), proof: Buffer.alloc(0), state: Buffer.alloc(0) }),
    ],
  ];
}

function blockLies(find: Find): Lie[] {
  const block = find(functions.getBlock);
  const links = find(functions.getShardBlockProof, ({ answer }) => answer.links.length > 0);
  const otherLinks = find(functions.getShardBlockProof, ({ args }) => args.id.seqno !== links.args.id.seqno);
  const lookup = find(functions.lookupBlock, ({ args }) => args.lt !== undefined);
  const { workchain, shard } = lookup.args.id;
  const { id } = block.args;
  const wrongRoot = { ...id, rootHash: Buffer.alloc(32) };
  const search = { by: 'lt', lt: lookup.args.lt! } as const;
  return [
    [
      'a block file of the same cells but other bytes',
      'hash_mismatch',
      () => checkBlockData({ block: id }, { id, data: relayout(block.answer.data) }),
    ],
    [
      'a block file of another root',
      'hash_mismatch',
      () => checkBlockData({ block: wrongRoot }, { id: wrongRoot, data: block.answer.data }),
    ],
    [
      'a shard block that the masterchain block does not list',
      'not_contained',
      () => {
        const asked = otherLinks.args.id;
        const forged = { ...links.answer, links: [{ ...links.answer.links[0]!, id: asked }] };
        return checkShardBlockProof({ block: asked }, forged);
      },
    ],
    [
      'a found block that ends before the lt',
      'wrong_field',
      () => checkLookup({ workchain, shard, search: { by: 'lt', lt: 1n << 60n } }, lookup.answer),
    ],
    [
      'a found block that was made before the time',
      'wrong_field',
      () => checkLookup({ workchain, shard, search: { by: 'utime', utime: 2 ** 31 } }, lookup.answer),
    ],
    [
      'a found block of another workchain',
      'wrong_id',
      () => checkLookup({ workchain: 7, shard, search }, lookup.answer),
    ],
    [
      'a found block of another shard',
      'wrong_id',
      () => {
        const half = find(functions.lookupBlock, ({ answer }) => answer.id.shard === 0xc000000000000000n);
        const expected = {
          workchain: 0,
          shard: 0x4000000000000000n,
          search: { by: 'seqno', seqno: half.answer.id.seqno },
        } as const;
        return checkLookup(expected, half.answer);
      },
    ],
  ];
}

function stateLies(find: Find): Lie[] {
  const config = find(
    functions.getConfigParams,
    ({ args, answer }) => args.mode === 0 && paramWithRefs(args.paramList, answer) !== undefined,
  );
  const shards = find(functions.getAllShardsInfo);
  const libraries = find(
    functions.getLibrariesWithProof,
    ({ args, answer }) => args.mode === 2 && answer.result.length > 0,
  );
  const withData = find(functions.getLibrariesWithProof, ({ answer }) =>
    answer.result.some(({ data }) => data.length > 0),
  );
  return [
    [
      'a parameter shown in part',
      'incomplete_proof',
      () => {
        const { args, answer } = config;
        const configProof = pruneCell(answer.configProof, paramWithRefs(args.paramList, answer)!);
        return checkConfig({ block: args.id, mode: args.mode, params: args.paramList }, { ...answer, configProof });
      },
    ],
    [
      'a list of shards with something behind it',
      'malformed',
      () => {
        const root = Cell.fromBoc(shards.answer.data)[0]!;
        const longer = beginCell().storeSlice(root.asSlice()).storeBit(0).endCell().toBoc();
        return checkAllShards({ block: shards.args.id }, { ...shards.answer, data: longer });
      },
    ],
    [
      'data of a library that was not asked for',
      'not_contained',
      () => {
        const { args, answer } = libraries;
        const { data } = withData.answer.result[0]!;
        const result = answer.result.map((entry) => ({ ...entry, data }));
        return checkLibrariesWithProof(
          { block: args.id, mode: args.mode, hashes: args.libraryList },
          { ...answer, result },
        );
      },
    ],
  ];
}

function transactionLies(find: Find): Lie[] {
  const none = find(functions.getOneTransaction, ({ answer }) => answer.transaction.length === 0);
  const one = find(functions.getOneTransaction, ({ answer }) => answer.transaction.length > 0);
  const list = find(functions.getTransactions);
  const prove = ({ args }: typeof one, answer: typeof one.answer, lt = args.lt): unknown =>
    checkTransaction({ block: args.id, workchain: args.account.workchain, account: args.account.id, lt }, answer);
  const { account, ...wanted } = list.args;
  const place = { workchain: account.workchain, account: account.id };
  return [
    [
      'a transaction that the block does not have',
      'not_contained',
      () => prove(none, { ...none.answer, transaction: one.answer.transaction }),
    ],
    [
      'a transaction looked up in a block of another workchain',
      'wrong_field',
      () => {
        const { args, answer } = one;
        return checkTransaction(
          { block: args.id, workchain: args.account.workchain + 1, account: args.account.id, lt: args.lt },
          answer,
        );
      },
    ],
    ["a transaction outside of the block's time", 'not_contained', () => prove(one, one.answer, 1n)],
    ['a transaction that is left out', 'malformed', () => prove(one, { ...one.answer, transaction: Buffer.alloc(0) })],
    [
      'transactions without their blocks',
      'wrong_field',
      () => checkTransactionList({ ...wanted, ...place }, { ...list.answer, ids: list.answer.ids.slice(1) }),
    ],
    [
      'transactions in blocks of another workchain',
      'wrong_field',
      () => {
        const ids = list.answer.ids.map((id) => ({ ...id, workchain: 5 }));
        return checkTransactionList({ ...wanted, ...place }, { ...list.answer, ids });
      },
    ],
    [
      'more transactions than were asked for',
      'malformed',
      () => {
        const many = find(functions.getTransactions, ({ answer }) => answer.ids.length > 1);
        const { args, answer } = many;
        return checkTransactionList(
          { ...args, workchain: args.account.workchain, account: args.account.id, count: 1 },
          answer,
        );
      },
    ],
  ];
}

/** Returns the cell of a requested parameter with references. */
function paramWithRefs(
  params: readonly number[],
  { configProof }: { readonly configProof: Buffer },
): number | undefined {
  const table = parseBoc(configProof);
  const { config } = readStateExtra('config', { table, cell: table.ref(table.roots[0]!, 0) });
  return params
    .map((param) => findConfigParam(table, config.root, param))
    .find((cell) => cell !== undefined && table.refCount(cell) > 0);
}

/** Returns the block id that means "no such block" in an answer. */
function noBlock(): BlockId {
  const hash = Buffer.alloc(32);
  return { workchain: -(2 ** 31), shard: 0n, seqno: 0, rootHash: hash, fileHash: hash };
}

describe.each(recordings())('Refused with its reason: $folder', (recording) => {
  const told = lies(recording);
  it.skipIf(told.length === 0).each(told)('a false answer is refused: %s: %s', (_, code, tell) => {
    expect(tell).toThrow(expect.objectContaining({ name: 'ProofError', code }));
  });
});
