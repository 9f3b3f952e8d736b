import type { BlockId } from '#service/decode/block-id.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import type { ArgsOf, LiteServerFunction } from '#service/liteserver/functions.ts';
import type { ConfigInfoAnswer, LookupBlockAnswer } from '#service/proof/answers.ts';
import type { BlockSearch } from '#service/proof/lookup-proof.ts';
import type { SignatureChecker } from '#service/proof/signature-checker.ts';
import * as functions from '#service/liteserver/functions.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { checkBlockData } from '#service/proof/block-data-proof.ts';
import { checkBlockProof } from '#service/proof/block-proof.ts';
import { checkBlockTransactions, checkBlockTransactionsExt } from '#service/proof/block-transactions-proof.ts';
import { CONFIG_FROM_KEY_BLOCK, checkConfig } from '#service/proof/config-proof.ts';
import { checkBlockHeader } from '#service/proof/header-proof.ts';
import { checkLibraries, checkLibrariesWithProof } from '#service/proof/library-proof.ts';
import { checkLookup, checkLookupWithProof } from '#service/proof/lookup-proof.ts';
import { checkQueueSize } from '#service/proof/queue-size-proof.ts';
import { checkShardBlockProof } from '#service/proof/shard-links.ts';
import { checkShardInfo } from '#service/proof/shard-proof.ts';
import { checkAllShards } from '#service/proof/shards-proof.ts';
import { checkTransactionList } from '#service/proof/transaction-list-proof.ts';
import { checkTransaction } from '#service/proof/transaction-proof.ts';
import { zeroStateBlock } from '#service/proof/trusted-blocks.ts';
import type { Recording } from './recorded.ts';

/** A recorded answer and the check of what it was the answer to. */
export type RecordedCase = {
  readonly note: string;
  readonly answer: unknown;
  /** Checks any answer against the recorded question; gives what was proved in a form that can be compared. */
  readonly prove: (answer: unknown) => Promise<unknown>;
};

export type AnswerKind = {
  readonly name: string;
  readonly cases: readonly RecordedCase[];
  /** Paths of fields of the answer that the lite server sheet leaves unproved, `*` for an index. */
  readonly unproved: readonly string[];
  /** Several answers to one question may be proved, of which the sheet lets a client take any. */
  readonly ambiguous: boolean;
};

type KindOptions<Args> = {
  readonly unproved?: readonly string[];
  readonly only?: (args: Args) => boolean;
  /** Tells kinds of the same function apart. */
  readonly variant?: string;
  readonly ambiguous?: boolean;
};

type MakeKind = <Args, Answer>(
  fn: LiteServerFunction<Args, Answer>,
  check: (args: Args, answer: Answer) => unknown,
  options?: KindOptions<Args>,
) => AnswerKind;

function kindOf<Args, Answer>(
  recording: Recording,
  fn: LiteServerFunction<Args, Answer>,
  check: (args: Args, answer: Answer) => unknown,
  options: KindOptions<Args> = {},
): AnswerKind {
  const cases = recording
    .exchanges(fn)
    .filter(({ args }) => options.only?.(args) ?? true)
    .map(({ note, args, answer }) => ({
      note,
      answer,
      prove: async (given: unknown) => summary(await check(args, given as Answer)),
    }));
  const name = options.variant === undefined ? fn.name : `${fn.name} ${options.variant}`;
  return { name, cases, unproved: options.unproved ?? [], ambiguous: options.ambiguous ?? false };
}

const WITH_PROOF = 32;
const QUEUE_PROOF = 1;

/** Every kind of answer that is checked, with all its recorded exchanges. */
export function answerKinds(recording: Recording, signatures: SignatureChecker): AnswerKind[] {
  const kind: MakeKind = (fn, check, options) => kindOf(recording, fn, check, options);
  const zeroState = zeroStateBlock(recording.zeroState);
  return [
    ...stateKinds(kind),
    ...blockKinds(kind),
    ...transactionKinds(kind),
    ...blockProofKinds(kind, zeroState, signatures),
  ];
}

function stateKinds(kind: MakeKind): AnswerKind[] {
  return [
    kind(functions.getAccountState, ({ id, account }, answer) =>
      checkAccountState({ block: id, workchain: account.workchain, account: account.id }, answer),
    ),
    kind(functions.getAccountStatePrunned, ({ id, account }, answer) =>
      checkAccountState({ block: id, workchain: account.workchain, account: account.id, pruned: true }, answer),
    ),
    kind(functions.getShardInfo, ({ id, ...shard }, answer) => checkShardInfo({ block: id, ...shard }, answer)),
    kind(functions.getBlockOutMsgQueueSize, ({ id }, answer) => checkQueueSize({ block: id }, answer), {
      unproved: ['mode'],
      only: ({ mode }) => (mode & QUEUE_PROOF) !== 0,
    }),
    kind(functions.getConfigAll, ({ id, mode }, answer) => checkConfig({ block: id, mode }, answer), {
      unproved: ['mode'],
    }),
    kind(functions.getConfigParams, proveParams, {
      unproved: ['mode'],
      only: ({ mode }) => (mode & CONFIG_FROM_KEY_BLOCK) === 0,
    }),
    kind(functions.getConfigParams, proveParams, {
      variant: 'of a key block',
      // The key block is to be accepted afterwards.
      unproved: ['mode', 'id.fileHash'],
      only: ({ mode }) => (mode & CONFIG_FROM_KEY_BLOCK) !== 0,
    }),
    kind(functions.getLibraries, ({ libraryList }, { result }) => checkLibraries({ hashes: libraryList }, result), {
      unproved: ['result'],
      ambiguous: true,
    }),
    kind(
      functions.getLibrariesWithProof,
      ({ id, mode, libraryList }, answer) => checkLibrariesWithProof({ block: id, mode, hashes: libraryList }, answer),
      { unproved: ['mode'] },
    ),
  ];
}

function blockKinds(kind: MakeKind): AnswerKind[] {
  return [
    kind(functions.getAllShardsInfo, ({ id }, answer) => checkAllShards({ block: id }, answer)),
    kind(functions.getBlockHeader, ({ id }, answer) => checkBlockHeader({ block: id }, answer), { unproved: ['mode'] }),
    kind(functions.lookupBlock, (args, answer) => checkLookup({ ...args.id, search: searchOf(args) }, answer), {
      // Without a proof from a trusted block, which file the header's block is in is the lite server's word.
      unproved: ['mode', 'id.fileHash'],
      // That it is the first block that fits is not proved.
      ambiguous: true,
    }),
    kind(functions.lookupBlockWithProof, proveLookup, {
      variant: 'by seqno',
      // A search by seqno needs no block before.
      unproved: ['mode', 'prevHeader'],
      only: ({ lt, utime }) => lt === undefined && utime === undefined,
    }),
    kind(functions.lookupBlockWithProof, proveLookup, {
      variant: 'by lt or utime',
      unproved: ['mode'],
      only: ({ lt, utime }) => lt !== undefined || utime !== undefined,
    }),
    kind(functions.getShardBlockProof, ({ id }, answer) => checkShardBlockProof({ block: id }, answer), {
      // The masterchain block is to be accepted afterwards.
      unproved: ['masterchainId.fileHash', 'masterchainId.seqno'],
    }),
    kind(functions.getBlock, ({ id }, answer) => checkBlockData({ block: id }, answer)),
  ];
}

function transactionKinds(kind: MakeKind): AnswerKind[] {
  return [
    kind(functions.getOneTransaction, ({ id, account, lt }, answer) =>
      checkTransaction({ block: id, workchain: account.workchain, account: account.id, lt }, answer),
    ),
    kind(
      functions.getTransactions,
      ({ account, ...wanted }, answer) =>
        checkTransactionList({ ...wanted, workchain: account.workchain, account: account.id }, answer).map(
          ({ transaction }) => transaction,
        ),
      { unproved: ['ids.*.shard', 'ids.*.seqno', 'ids.*.rootHash', 'ids.*.fileHash', 'ids'], ambiguous: true },
    ),
    kind(
      functions.listBlockTransactions,
      ({ id, ...wanted }, answer) => checkBlockTransactions({ block: id, ...wanted }, answer),
      { unproved: ['reqCount', 'ids.*.mode'], only: ({ mode }) => (mode & WITH_PROOF) !== 0 },
    ),
    kind(
      functions.listBlockTransactionsExt,
      ({ id, ...wanted }, answer) => checkBlockTransactionsExt({ block: id, ...wanted }, answer),
      { unproved: ['reqCount'], only: ({ mode }) => (mode & WITH_PROOF) !== 0 },
    ),
  ];
}

function blockProofKinds(kind: MakeKind, zeroState: BlockId, signatures: SignatureChecker): AnswerKind[] {
  return [
    kind(
      functions.getBlockProof,
      ({ knownBlock, targetBlock }, answer) =>
        checkBlockProof({ known: knownBlock, target: targetBlock!, zeroState }, answer, signatures),
      { only: ({ targetBlock }) => targetBlock !== undefined },
    ),
    kind(
      functions.getBlockProof,
      ({ knownBlock }, answer) =>
        checkBlockProof({ known: knownBlock, target: answer.to, zeroState }, answer, signatures),
      { variant: 'to the newest block', only: ({ targetBlock }) => targetBlock === undefined, ambiguous: true },
    ),
  ];
}

function proveLookup(args: ArgsOf<typeof functions.lookupBlockWithProof>, answer: LookupBlockAnswer): unknown {
  const { id, mcBlockId } = args;
  return checkLookupWithProof({ ...id, masterchainBlock: mcBlockId, search: searchOf(args) }, answer);
}

function proveParams(args: ArgsOf<typeof functions.getConfigParams>, answer: ConfigInfoAnswer): unknown {
  const { id, mode, paramList } = args;
  return checkConfig({ block: id, mode, params: paramList }, answer);
}

/** The search that the mode of `lookupBlock` stands for. */
function searchOf(
  args: { readonly mode: number; readonly id: { readonly seqno: number } } & OptionalSearch,
): BlockSearch {
  if (args.lt !== undefined) return { by: 'lt', lt: args.lt };
  return args.utime === undefined ? { by: 'seqno', seqno: args.id.seqno } : { by: 'utime', utime: args.utime };
}

type OptionalSearch = { readonly lt?: bigint; readonly utime?: number };

/** Cells as their hashes, whatever table they stand in and wherever; the rest as it is. */
export function summary(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(summary);
  if (typeof value !== 'object' || value === null) return value;
  const { table, cell, config, ...rest } = value as { table?: CellTable; cell?: number; config?: { root: number } };
  const hashes = {
    ...(table !== undefined && cell !== undefined && { hash: table.hash(cell, 0).toString('hex') }),
    ...(table !== undefined && config !== undefined && { config: table.hash(config.root, 0).toString('hex') }),
  };
  // Places of cells in a block header: they differ with the layout of the bag.
  const places = new Set(['masterRef', 'prevRef', 'prevVertRef']);
  const fields = Object.entries(rest).filter(([name]) => !places.has(name));
  return { ...hashes, ...Object.fromEntries(fields.map(([name, field]) => [name, summary(field)])) };
}
