import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { storeValidatorSet } from '#service/decode/tlb/validator-set.ts';
import { editConfig } from '#service/devchain/chain/edit-builders.ts';
import type { ChainBlock } from '#service/devchain/chain/chain.ts';
import { createMessageInbox } from '#service/devchain/queries/message-queries.ts';
import { createMethodRunner } from '#service/devchain/queries/method-runner.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { answerQuery } from '#service/devchain/queries/queries.ts';
import type { Consensus } from '#service/devchain/chain/signing.ts';
import { describeValidator, validatorKey } from '#service/devchain/chain/signing.ts';
import type { LiteServerFunction } from '#service/liteserver/functions.ts';
import * as functions from '#service/liteserver/functions.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { blocksOf } from '#test/service/decode/tlb/rewriting.ts';
import { answerKinds } from '#test/service/proof/answer-kinds.ts';
import type { Exchange, Recording } from '#test/service/proof/recorded.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

// Every query about every block of a private network, from the first on, is answered with a proof that holds.

const signatures = createSignatureChecker({}, { register: new Registry(), logger: pino({ level: 'silent' }) });
afterAll(() => signatures.close());

/** A split and a merge, two changes of validators, messages between shards and chains all the while. */
async function live(network: PrivateNetwork, validators: number): Promise<void> {
  const faucet = testWallet(network.faucet.seed);
  const receivers = ['00', '90'].map((byte) => `0:${byte.repeat(32)}`);
  for (let step = 0; step < 24; step++) {
    if (step === 2) network.setShardDepth(1);
    if (step === 12) network.setShardDepth(0);
    const messages = [...receivers, `-1:${'44'.repeat(32)}`].map((to) => transfer(to, 1_000_000_000n));
    if (step % 3 === 0) network.send(faucet.send(step / 3, messages));
    await network.step(step % 9 === 8 ? [newValidators(network, validators, step)] : []);
  }
}

function newValidators(network: PrivateNetwork, count: number, round: number): ReturnType<typeof editConfig> {
  const keys = Array.from({ length: count }, (_, index) => validatorKey(Buffer.alloc(32, round * 8 + index)));
  network.validatorKeys.push(...keys);
  const list = keys.map((key, index) => describeValidator(key, BigInt(index + 1)));
  const term = { utimeSince: 0, utimeUntil: 0xffff_ffff, main: list.length };
  return editConfig((states) => new Map([[34, storeValidatorSet(states, { ...term, list })]]));
}

type AttemptResult = { readonly fn: LiteServerFunction<never, unknown>; readonly args: unknown };

function ask<Args, Answer>(fn: LiteServerFunction<Args, Answer>, args: Args): AttemptResult {
  return { fn: fn as LiteServerFunction<never, unknown>, args };
}

/** Every question about a block and its transactions. */
function questionsAbout({ chain, faucet }: PrivateNetwork, block: ChainBlock): AttemptResult[] {
  const { id } = block;
  const boc = chain.parse(block);
  const transactions = readBlockTransactions(boc, boc.roots[0]!);
  const top = chain.masterchain(Math.min(chain.lastSeqno, block.masterchainSeqno + 1))!.id;
  const place = { workchain: id.workchain, shard: id.shard, seqno: id.seqno };
  const { utime, endLt } = block.header;
  // What is before the first block is the zerostate, which is no block and has no header to show.
  const isFirst = id.seqno === 1 || utime === chain.masterchain(1)!.header.utime;
  const searches = [
    { mode: 1 },
    ...(isFirst
      ? []
      : [
          { mode: 2, lt: endLt },
          { mode: 4, utime },
        ]),
  ];
  const shared = [
    ask(functions.getBlock, { id }),
    ask(functions.getBlockHeader, { id, mode: 0xffff }),
    ask(functions.getBlockOutMsgQueueSize, { mode: 1, id }),
    ask(functions.listBlockTransactions, { id, mode: 39, count: 40 }),
    ask(functions.listBlockTransactionsExt, { id, mode: 32, count: 40 }),
    ...searches.map((search) => ask(functions.lookupBlock, { id: place, ...search })),
    ...searches.map((search) => ask(functions.lookupBlockWithProof, { id: place, mcBlockId: top, ...search })),
    ...transactions.flatMap(({ account, lt, cell }) => {
      const where = { workchain: id.workchain, id: account };
      return [
        ask(functions.getOneTransaction, { id, account: where, lt }),
        ask(functions.getTransactions, { count: 3, account: where, lt, hash: boc.hash(cell) }),
        ask(functions.getAccountState, { id, account: where }),
      ];
    }),
  ];
  if (id.workchain !== MASTERCHAIN) return [...shared, ask(functions.getShardBlockProof, { id })];
  const account = { workchain: 0, id: faucet.id };
  const listed = block.shards.filter(({ block: shard }) => shard.seqno > 0);
  const head = chain.masterchain(chain.lastSeqno)!.id;
  return [
    ...shared,
    ...(listed.length === 0 ? [] : [ask(functions.getAccountState, { id, account })]),
    ...(listed.length === 0 ? [] : [ask(functions.getAccountStatePrunned, { id, account })]),
    ask(functions.getAllShardsInfo, { id }),
    ...listed.map(({ block: { workchain, shard } }) =>
      ask(functions.getShardInfo, { id, workchain, shard, exact: true }),
    ),
    ask(functions.getConfigAll, { mode: 0, id }),
    ask(functions.getConfigParams, { mode: 0, id, paramList: [0, 12, 18, 20, 34, 36] }),
    ask(functions.getLibrariesWithProof, { id, mode: 0, libraryList: [Buffer.alloc(32, 5)] }),
    ask(functions.getBlockProof, { mode: 1, knownBlock: chain.zeroStates[0]!.id, targetBlock: id }),
    ask(functions.getBlockProof, { mode: 1, knownBlock: id, targetBlock: head }),
    ask(functions.getBlockProof, { mode: 1, knownBlock: head, targetBlock: id }),
  ];
}

/** Asks everything and keeps it in the shape of a recording. */
function record(network: PrivateNetwork): Recording {
  const { chain } = network;
  const tools = { inbox: createMessageInbox({ nowMs: () => 0 }), methods: createMethodRunner() };
  const view = { chain, tip: chain.lastSeqno, nowSeconds: 0 };
  const asked = blocksOf(chain).flatMap((block) => questionsAbout(network, block));
  const byName = Map.groupBy(asked, ({ fn }) => fn.name);
  const [zero] = chain.zeroStates;
  const { rootHash, fileHash } = zero!.id;
  return {
    folder: 'a private network',
    zeroState: { rootHash, fileHash },
    zeroStateBoc: zero!.bytes,
    exchanges<Args, Answer>(fn: LiteServerFunction<Args, Answer>): Exchange<Args, Answer>[] {
      return (byName.get(fn.name) ?? []).map(({ args }) => {
        const answer = fn.decode(answerQuery(view, fn.encode(args as Args), tools));
        return { note: fn.name, args: args as Args, answer };
      });
    },
    blocks: () => [...chain.zeroStates, ...blocksOf(chain)].map(({ id, bytes }) => ({ id, boc: bytes })),
    signatures: () => [],
  };
}

/** Functions of which a private network has no answers that are proved in this way. */
const without = [
  'getLibraries',
  'getState',
  'getConfigAll of a key block',
  'getConfigParams of a key block',
  'getBlockProof to the newest block',
];

describe.each<[number, Consensus]>([
  [1, 'ordinary'],
  [4, 'ordinary'],
  [21, 'ordinary'],
  [4, 'simplex'],
])('every answer of a private network with %i validators and %s signatures', async (validators, consensus) => {
  const network = await startPrivateNetwork({
    validators,
    consensus,
    splitMergeDelaySeconds: 2,
    splitMergeIntervalSeconds: 60,
  });
  afterAll(() => network.close());
  await live(network, validators);
  const kinds = answerKinds(record(network), signatures).filter(({ name }) => !without.includes(name));

  it('is about splits, merges and key blocks', () => {
    const headers = blocksOf(network.chain).map(({ header }) => header);
    expect(headers.some(({ afterSplit }) => afterSplit)).toBe(true);
    expect(headers.some(({ afterMerge }) => afterMerge)).toBe(true);
    expect(network.chain.keyBlocks.length).toBe(3);
  });

  it.each(kinds)('of $name is proved', async ({ cases }) => {
    expect(cases.length).toBeGreaterThan(10);
    const proved = await Promise.all(cases.map(({ answer, prove }) => prove(answer)));
    expect(proved).not.toContain(undefined);
  });
});
