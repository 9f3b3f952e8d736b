import type { BlockId } from '#service/decode/block-id.ts';
import { blockText } from '#service/decode/block-id.ts';
import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { applyMerkleUpdate, readMerkleUpdate } from '#service/decode/merkle.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { masterBlock, previousBlocks, readBlockInfo } from '#service/decode/tlb/block-info.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { NO_CURRENCIES, addCurrencies } from '#service/decode/tlb/currency-collection.ts';
import { readImportFees, readInMsg } from '#service/decode/tlb/in-msg.ts';
import { readMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import { readMasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import type { ShardDescr } from '#service/decode/tlb/shard-descr.ts';
import { listShards } from '#service/decode/tlb/shard-descr.ts';
import { addSplitState } from '#service/decode/tlb/shard-state.ts';
import type { ChainBlock, GrowingChain } from '#service/devchain/chain/chain.ts';
import { createChain, stateOf } from '#service/devchain/chain/chain.ts';
import { openAccounts } from '#service/devchain/collator/accounts.ts';
import type { ChainConfig } from '#service/devchain/collator/chain-config.ts';
import { readChainConfig } from '#service/devchain/collator/chain-config.ts';
import type { BlockTip, CollateRequest, CollateWorld, Collated } from '#service/devchain/collator/collate.ts';
import { collate } from '#service/devchain/collator/collate.ts';
import { createExecutor } from '#service/devchain/collator/executor.ts';
import type { ExternalMessage } from '#service/devchain/collator/external-message.ts';
import { openMasterchainState } from '#service/devchain/collator/masterchain-state.ts';
import { openPrevious } from '#service/devchain/collator/merged-previous-state.ts';
import type { ShardTop } from '#service/devchain/collator/shard-list.ts';
import type { Recording, RecordedBlock } from '#service/devchain/chain/recording.ts';
import { compileEmulator, createEmulator } from '#service/tvm/emulator.ts';
import { previousBlocksTuple } from '#service/tvm/previous-blocks.ts';
import { encodeStackEntry } from '#service/tvm/stack-writer.ts';
import { previousBlocksOf } from '#test/service/tvm/recorded-world.ts';
import { flowOf } from './money.ts';

/** A recorded block, and the block that our collator made of the same things, or why it made none. */
export type Replayed = {
  readonly chain: GrowingChain;
  readonly block: ChainBlock;
  readonly made: Collated | Error;
  /** The node had no time left when it began and looked at no queue: this no block tells, so it is tried when the block is another one without. */
  readonly late: boolean;
  /** Executes each recorded transaction by itself, on the account as the one before left it: names those with another hash. */
  executeAlone(): string[];
};

/** What the collator is asked for, and the parts of the recorded block. */
type Question = {
  readonly request: CollateRequest;
  readonly info: number;
  readonly stateUpdate: number;
  readonly boc: Boc;
};

/**
 * Makes every block of a recording again: on the recorded states, from the messages from outside that it took, with its time, seed,
 * maker and plans to split and merge.
 *
 * @param every 1 for each block; n makes every n-th block again and takes the others as they are
 */
export async function* replay(tape: Recording, every = 1): AsyncGenerator<Replayed> {
  const chain = createChain([tape.masterchainZeroState, tape.basechainZeroState]);
  const executor = createExecutor(await createEmulator(await compileEmulator()));
  const makers = new Map<ChainBlock, Buffer>();
  const configs = new Map<number, ChainConfig>();
  const { states } = chain;
  const masterchainId = (seqno: number): BlockId =>
    seqno === 0 ? chain.zeroStates[0]!.id : chain.masterchain(seqno)!.id;
  const world: CollateWorld = {
    states,
    executor,
    configOf(root) {
      const config = configs.get(root) ?? readChainConfig(states, root);
      configs.set(root, config);
      return config;
    },
    previousBlocks: ({ id }) =>
      encodeStackEntry(previousBlocksTuple(previousBlocksOf(chain, id.seqno))).toString('base64'),
    masterchainState: (seqno) => stateOf(chain, masterchainId(seqno))!,
    stateOf: (id) => stateOf(chain, id)!,
    rest: () => undefined,
  };
  try {
    for (const [index, recorded] of tape.blocks.entries()) {
      const { request, boc, stateUpdate, ...question } = questionOf(chain, recorded, makers);
      const { newHash } = readMerkleUpdate(boc, stateUpdate);
      const [left, right] = request.previous.map(({ state }) => state);
      const start = right === undefined ? left! : addSplitState(states, left!, right);
      const take = (): ChainBlock => {
        const block = chain.add(recorded, applyMerkleUpdate(states, boc, stateUpdate, start));
        makers.set(block, request.creator);
        return block;
      };
      if (index % every !== 0) {
        take();
        continue;
      }
      const infoHash = boc.hash(question.info);
      const isRight = (one: Collated | Error): boolean => {
        if (one instanceof Error || !states.hashEquals(one.state, newHash)) return false;
        const ours = parseBoc(one.bytes);
        return ours.hashEquals(readBlock(ours, ours.roots[0]!).info, infoHash);
      };
      const tryOne = (one: CollateRequest): Promise<Collated | Error> =>
        collate(one, world).catch((error: Error) => error);
      const inTime = await tryOne(request);
      const tooLate = isRight(inTime) ? undefined : await tryOne({ ...request, transactionsMax: 0 });
      const late = tooLate !== undefined && isRight(tooLate);
      const made = late ? tooLate : inTime;
      const block = take();
      const executeAlone = (): string[] => executeTransactions(boc, request, world);
      yield { chain, block, made, late, executeAlone };
    }
  } finally {
    executor.close();
  }
}

function executeTransactions(
  boc: Boc,
  { shard, previous, masterchain, utime, randSeed }: CollateRequest,
  world: CollateWorld,
): string[] {
  const { states, executor, previousBlocks: write } = world;
  const { config, libraries } = openMasterchainState(states, masterchain.state);
  executor.open({ states, config: config.root, libraries, utime, randSeed, previousBlocks: write(masterchain) });
  const cells = createCellStore();
  const accounts = openAccounts({ states, cells, accounts: openPrevious(states, shard, previous).accounts }, executor);
  const wrong: string[] = [];
  for (const { cell, account, inMessage, descr, lt } of readBlockTransactions(boc, boc.roots[0]!)) {
    const turn = descr.kind === 'tickTock' && descr.isTock ? 'tock' : 'tick';
    const message = inMessage === undefined ? turn : { boc: writeBoc(boc, [inMessage.cell]).toString('base64') };
    const done = accounts.run(account, message, lt);
    const isSame = done.kind === 'done' && cells.hashEquals(done.transaction.cell, boc.hash(cell));
    if (!isSame) wrong.push(`${shard.workchain}:${account.toString('hex')} ${lt}`);
  }
  return wrong;
}

function tipOf(chain: GrowingChain, id: BlockId): BlockTip {
  return { id, endLt: chain.find(id)?.header.endLt ?? 0n, state: stateOf(chain, id)! };
}

function questionOf(chain: GrowingChain, { bytes }: RecordedBlock, makers: ReadonlyMap<ChainBlock, Buffer>): Question {
  const boc = parseBoc(bytes);
  const { info, extra, stateUpdate } = readBlock(boc, boc.roots[0]!);
  const header = readBlockInfo(boc, info);
  const { randSeed, createdBy: creator, custom } = readBlockExtra(boc, extra);
  const previous = previousBlocks(boc, header).map((one) => tipOf(chain, one));
  const masterchain = header.masterRef === undefined ? previous[0]! : tipOf(chain, masterBlock(boc, header)!);
  const { beforeSplit, wantSplit, wantMerge, utime, workchain, shard } = header;
  const [externals = [], ...laterExternals] = wavesOf(boc, workchain, header.startLt);
  const request: CollateRequest = {
    shard: { workchain, shard },
    previous,
    masterchain,
    tops:
      custom === undefined
        ? []
        : topsOf(chain, listShards(boc, readMasterchainBlockExtra(boc, custom).shardHashes), masterchain, makers),
    externals,
    laterExternals,
    utime,
    randSeed,
    creator,
    transactionsMax: Number.POSITIVE_INFINITY,
    edits: [],
    beforeSplit,
    wantSplit,
    wantMerge,
  };
  return { boc, info, stateUpdate, request };
}

/**
 * Messages from outside in waves: one that came after others' messages were delivered has an lt above theirs. Where the account's own
 * last transaction decides the lt it counts to the wave of that.
 */
function wavesOf(boc: Boc, workchain: number, startLt: bigint): readonly (readonly ExternalMessage[])[] {
  const emitted = emittedLts(boc);
  const transactions = readBlockTransactions(boc, boc.roots[0]!).toSorted((one, other) => (one.lt < other.lt ? -1 : 1));
  const lasts = new Map<string, { readonly endLt: bigint; readonly wave: bigint }>();
  const waves = new Map<bigint, ExternalMessage[]>([[startLt, []]]);
  for (const { inMessage, account, lt, outMessageCount } of transactions) {
    const key = account.toString('hex');
    const last = lasts.get(key);
    let wave = last?.wave ?? startLt;
    if (inMessage?.info.kind === 'externalIn') {
      if (lt - 1n > startLt && lt > (last?.endLt ?? 0n)) wave = lt - 1n;
      const message = {
        text: writeBoc(boc, [inMessage.cell]).toString('base64'),
        destination: { workchain, id: account },
      };
      waves.set(wave, [...(waves.get(wave) ?? []), message]);
    } else if (inMessage?.info.kind === 'internal') {
      const sentLt = emitted.get(boc.hash(inMessage.cell).toString('hex')) ?? inMessage.info.createdLt;
      if (sentLt > wave) wave = sentLt;
    }
    lasts.set(key, { endLt: lt + BigInt(outMessageCount) + 1n, wave });
  }
  return [...waves].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, wave]) => wave);
}

/** Lts at which messages left the dispatch queue, by their hashes. */
function emittedLts(boc: Boc): Map<string, bigint> {
  const lts = new Map<string, bigint>();
  const { extra } = readBlock(boc, boc.roots[0]!);
  const descr = new CellSlice(boc, readBlockExtra(boc, extra).inMsgDescr).maybeRef();
  const note = (hash: Buffer, value: CellSlice): void => {
    const inMsg = readInMsg(value);
    if (inMsg.kind !== 'deferredFinal') return;
    const { emittedLt } = readMessageEnvelope(new CellSlice(boc, inMsg.envelope));
    lts.set(hash.toString('hex'), emittedLt!);
  };
  walkHashmap(boc, descr, 256, note, { readExtra: readImportFees });
  return lts;
}

/** The shard blocks that a masterchain block takes in: the newest of each shard, with the money of all since the last one. */
function topsOf(
  chain: GrowingChain,
  shards: readonly ShardDescr[],
  masterchain: BlockTip,
  makers: ReadonlyMap<ChainBlock, Buffer>,
): ShardTop[] {
  const { states } = chain;
  const sum = (parts: readonly CurrencyCollection[]): CurrencyCollection =>
    parts.reduce((total, part) => addCurrencies(states, total, part), NO_CURRENCIES);
  const known = openMasterchainState(states, masterchain.state).shards.map(({ block }) => blockText(block));
  return shards
    .filter(({ block }) => block.seqno > 0 && !known.includes(blockText(block)))
    .map(({ block }) => {
      const blocks: ChainBlock[] = [];
      for (let one = chain.find(block); one !== undefined && !known.includes(blockText(one.id));) {
        blocks.push(one);
        one = chain.find(one.previous[0]!);
      }
      const flows = blocks.map((one) => flowOf(chain, one));
      const { header } = blocks[0]!;
      return {
        block,
        startLt: header.startLt,
        endLt: header.endLt,
        beforeSplit: header.beforeSplit,
        wantSplit: header.wantSplit,
        wantMerge: header.wantMerge,
        minRefMasterchainSeqno: header.minRefMasterchainSeqno,
        utime: header.utime,
        feesCollected: sum(flows.map(({ feesCollected }) => feesCollected)),
        fundsCreated: sum(flows.map(({ created }) => created)),
        creators: blocks.map((one) => makers.get(one)!),
        minted: 0n,
      };
    });
}
