import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN, sameBlock } from '#service/decode/block-id.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import type { ArgsOf, LiteServerFunction } from '#service/liteserver/functions.ts';
import type { ConfigInfo } from '#service/liteserver/tl/lite-api.ts';
import type { BlockHeaderAnswer, LookupBlockAnswer, PartialBlockProof } from '#service/proof/answers.ts';
import type { BlockSearch } from '#service/proof/lookup-proof.ts';
import type { SignatureChecker } from '#service/proof/signature-checker.ts';
import { openBlockFile } from '#service/live/blocks/block-files.ts';
import * as functions from '#service/liteserver/functions.ts';
import { checkHeadHeader } from '#service/pool/head-proof.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { checkBlockData } from '#service/proof/block-data-proof.ts';
import { checkBlockProof } from '#service/proof/block-proof.ts';
import { checkBlockTransactions, checkBlockTransactionsExt } from '#service/proof/block-transactions-proof.ts';
import { CONFIG_FROM_KEY_BLOCK, checkConfig } from '#service/proof/config-proof.ts';
import { ProofError } from '#service/proof/errors.ts';
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
import { checkZeroState } from '#service/proof/zero-state-proof.ts';
import type { Recording } from './recorded.ts';

/** Recorded answer, and the check of its request. */
export type RecordedCase = {
  readonly note: string;
  readonly answer: unknown;
  /** Checks any answer against the recorded request. Returns the proved facts in a comparable form. */
  readonly prove: (answer: unknown) => Promise<unknown>;
};

export type AnswerKind = {
  readonly name: string;
  readonly cases: readonly RecordedCase[];
  /** Bytes of all its answers. */
  readonly answers: readonly Buffer[];
  readonly decode: (answer: Buffer) => unknown;
  /** Reports whether an accepted answer proves the same as the recorded one, or equally good facts. @param truth facts of the recorded answer */
  readonly isRight: (proved: unknown, truth: unknown) => boolean;
};

type KindOptions<Args> = {
  readonly only?: (args: Args) => boolean;
  /** Name that distinguishes kinds of the same function. */
  readonly variant?: string;
  readonly isRight?: AnswerKind['isRight'];
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
  const exchanges = recording.exchanges(fn).filter(({ args }) => options.only?.(args) ?? true);
  const cases = exchanges.map(({ note, args, answer }) => ({
    note,
    answer,
    prove: async (given: unknown) => summary(await check(args, given as Answer)),
  }));
  return {
    name: options.variant === undefined ? fn.name : `${fn.name} ${options.variant}`,
    cases,
    answers: exchanges.map(({ answer }) => fn.encodeAnswer(answer)),
    decode: (answer) => fn.decode(answer),
    isRight: options.isRight ?? ((proved, truth) => isDeepStrictEqual(proved, truth)),
  };
}

/** Reports whether a list is a beginning: it may be shorter than requested, but not empty. */
function isBeginning(proved: unknown, truth: unknown): boolean {
  const [list, whole] = [proved as readonly unknown[], truth as readonly unknown[]];
  return list.length > 0 && isDeepStrictEqual(list, whole.slice(0, list.length));
}

/** Reports whether libraries are a part, because absence of a library is not proved. */
function isPart(proved: unknown, truth: unknown): boolean {
  return (proved as readonly unknown[]).every((one) =>
    (truth as readonly unknown[]).some((other) => isDeepStrictEqual(one, other)),
  );
}

const WITH_PROOF = 32;
const QUEUE_PROOF = 1;
const WITH_STATE_UPDATE = 1;

/** Returns every kind of answer that is checked, with all its recorded exchanges. */
export function answerKinds(recording: Recording, signatures: SignatureChecker): AnswerKind[] {
  const kind: MakeKind = (fn, check, options) => kindOf(recording, fn, check, options);
  const zeroState = zeroStateBlock(recording.zeroState);
  const accept = acceptorOf(recording);
  return [
    ...stateKinds(kind, accept),
    ...blockKinds(kind, accept),
    ...transactionKinds(kind),
    ...blockProofKinds(kind, { zeroState, signatures, accept }),
  ];
}

/** Refuses a block that is not of the network, like the chain of trusted blocks. */
type Accept = (block: Pick<BlockId, 'rootHash'> & Partial<BlockId>) => void;

function acceptorOf(recording: Recording): Accept {
  const blocks = recording.blocks().map(({ id }) => id);
  const byHash = new Map(blocks.map((id) => [id.rootHash.toString('hex'), id]));
  const zeroState = zeroStateBlock(recording.zeroState);
  byHash.set(zeroState.rootHash.toString('hex'), zeroState);
  return (block) => {
    const known = byHash.get(block.rootHash.toString('hex'));
    if (known === undefined || !sameBlock(known, { ...known, ...block })) {
      throw new ProofError('fork', { subject: 'a block of another network' });
    }
  };
}

function stateKinds(kind: MakeKind, accept: Accept): AnswerKind[] {
  return [
    kind(functions.getAccountState, ({ id, account }, answer) =>
      checkAccountState({ block: id, workchain: account.workchain, account: account.id }, answer),
    ),
    kind(functions.getAccountStatePrunned, ({ id, account }, answer) =>
      checkAccountState({ block: id, workchain: account.workchain, account: account.id, pruned: true }, answer),
    ),
    kind(functions.getShardInfo, ({ id, ...shard }, answer) => checkShardInfo({ block: id, ...shard }, answer)),
    kind(functions.getBlockOutMsgQueueSize, ({ id }, answer) => checkQueueSize({ block: id }, answer), {
      only: ({ mode }) => (mode & QUEUE_PROOF) !== 0,
    }),
    ...[functions.getConfigAll, functions.getConfigParams].flatMap((fn) => configKinds(kind, fn, accept)),
    kind(functions.getLibraries, ({ libraryList }, { result }) => checkLibraries({ hashes: libraryList }, result), {
      isRight: isPart,
    }),
    kind(functions.getLibrariesWithProof, ({ id, mode, libraryList }, answer) =>
      checkLibrariesWithProof({ block: id, mode, hashes: libraryList }, answer),
    ),
  ];
}

type ConfigArgs = { readonly id: BlockId; readonly mode: number; readonly paramList?: number[] };

type ConfigFunction = typeof functions.getConfigAll | typeof functions.getConfigParams;

function configKinds(kind: MakeKind, fn: ConfigFunction, accept: Accept): AnswerKind[] {
  const ofKeyBlock = ({ mode }: ConfigArgs): boolean => (mode & CONFIG_FROM_KEY_BLOCK) !== 0;
  const prove = ({ id, mode, paramList }: ConfigArgs, answer: ConfigInfo): unknown => {
    const proved = checkConfig({ block: id, mode, ...(paramList !== undefined && { params: paramList }) }, answer);
    accept(proved.block);
    return proved;
  };
  const asked = fn as unknown as LiteServerFunction<ConfigArgs, ConfigInfo>;
  return [
    kind(asked, prove, { only: (args) => !ofKeyBlock(args) }),
    kind(asked, prove, { variant: 'of a key block', only: ofKeyBlock, isRight: () => true }),
  ];
}

function blockKinds(kind: MakeKind, accept: Accept): AnswerKind[] {
  return [
    kind(functions.getAllShardsInfo, ({ id }, answer) => checkAllShards({ block: id }, answer)),
    kind(functions.getBlockHeader, ({ id }, answer) => checkBlockHeader({ block: id }, answer)),
    kind(functions.getBlockHeader, ({ id }, answer) => checkHeadHeader(id, answer), {
      variant: 'of a head',
      only: ({ mode, id }) => (mode & WITH_STATE_UPDATE) !== 0 && id.workchain === MASTERCHAIN,
    }),
    kind(functions.lookupBlock, (args, answer) => proveUnlinked(args, answer, accept), {
      variant: 'by seqno',
      only: ({ lt, utime }) => lt === undefined && utime === undefined,
    }),
    kind(functions.lookupBlock, (args, answer) => proveUnlinked(args, answer, accept), {
      variant: 'by lt or utime',
      only: ({ lt, utime }) => lt !== undefined || utime !== undefined,
      // The proof does not show that it is the first matching block.
      isRight: () => true,
    }),
    kind(functions.lookupBlockWithProof, proveLookup, {
      variant: 'by seqno',
      only: ({ lt, utime }) => lt === undefined && utime === undefined,
    }),
    kind(functions.lookupBlockWithProof, proveLookup, {
      variant: 'by lt or utime',
      only: ({ lt, utime }) => lt !== undefined || utime !== undefined,
    }),
    kind(functions.getShardBlockProof, ({ id }, answer) => {
      // Any masterchain block of the network with the shard block in its history is equally good.
      accept(checkShardBlockProof({ block: id }, answer));
      return 'in the history of the network';
    }),
    kind(functions.getBlock, ({ id }, answer) => checkBlockData({ block: id }, answer)),
    kind(functions.getBlock, ({ id }, answer) => openBlockFile(id, answer), { variant: 'as a file' }),
    kind(functions.getState, ({ id }, answer) => checkZeroState({ block: id }, answer), {
      only: ({ id }) => id.seqno === 0,
    }),
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
      { isRight: isBeginning },
    ),
    kind(
      functions.listBlockTransactions,
      ({ id, ...wanted }, answer) => checkBlockTransactions({ block: id, ...wanted }, answer),
      { only: ({ mode }) => (mode & WITH_PROOF) !== 0 },
    ),
    kind(
      functions.listBlockTransactionsExt,
      ({ id, ...wanted }, answer) => checkBlockTransactionsExt({ block: id, ...wanted }, answer),
      { only: ({ mode }) => (mode & WITH_PROOF) !== 0 },
    ),
  ];
}

type BlockProofTools = {
  readonly zeroState: BlockId;
  readonly signatures: SignatureChecker;
  readonly accept: Accept;
};

/** Returns kinds of block proofs. A part of the path is as good as the whole path. */
function blockProofKinds(kind: MakeKind, { zeroState, signatures, accept }: BlockProofTools): AnswerKind[] {
  const prove = async (known: BlockId, target: BlockId, answer: PartialBlockProof): Promise<BlockId[]> => {
    const { keyBlocks, reached } = await checkBlockProof({ known, target, zeroState }, answer, signatures);
    return [...keyBlocks, reached];
  };
  return [
    kind(
      functions.getBlockProof,
      async ({ knownBlock, targetBlock }, answer) => {
        const blocks = await prove(knownBlock, targetBlock!, answer);
        // The signatures prove the blocks, so a refusal here is a fault of the check.
        expect(() => blocks.forEach(accept)).not.toThrow();
        return 'blocks of the network';
      },
      { only: ({ targetBlock }) => targetBlock !== undefined },
    ),
    kind(functions.getBlockProof, ({ knownBlock }, answer) => prove(knownBlock, answer.to, answer), {
      variant: 'to the newest block',
      only: ({ targetBlock }) => targetBlock === undefined,
      // The answer alone decides which block is the newest.
      isRight: () => true,
    }),
  ];
}

function proveUnlinked(args: ArgsOf<typeof functions.lookupBlock>, answer: BlockHeaderAnswer, accept: Accept): unknown {
  const header = checkLookup({ ...args.id, search: searchOf(args) }, answer);
  accept(header.id);
  return header;
}

function proveLookup(args: ArgsOf<typeof functions.lookupBlockWithProof>, answer: LookupBlockAnswer): unknown {
  const { id, mcBlockId } = args;
  return checkLookupWithProof({ ...id, masterchainBlock: mcBlockId, search: searchOf(args) }, answer);
}

/** Returns the search that the mode of `lookupBlock` means. */
function searchOf(
  args: { readonly mode: number; readonly id: { readonly seqno: number } } & OptionalSearch,
): BlockSearch {
  if (args.lt !== undefined) return { by: 'lt', lt: args.lt };
  return args.utime === undefined ? { by: 'seqno', seqno: args.id.seqno } : { by: 'utime', utime: args.utime };
}

type OptionalSearch = { readonly lt?: bigint; readonly utime?: number };

/** Returns cells as their hashes, independent of table and position, and other values unchanged. */
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
  // Positions of cells in a block header, which differ with the layout of the bag.
  const places = new Set(['masterRef', 'prevRef', 'prevVertRef']);
  const fields = Object.entries(rest).filter(([name]) => !places.has(name));
  return { ...hashes, ...Object.fromEntries(fields.map(([name, field]) => [name, summary(field)])) };
}
