import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, test } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN, sameBlock } from '#service/decode/block-id.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { isRefusal } from '#service/devchain/chain/errors.ts';
import { answerQuery } from '#service/devchain/queries/queries.ts';
import { readHistoryStep } from '#service/live/transactions/account-history.ts';
import { versionOf } from '#service/simulation/account-state.ts';
import { createAccountReader } from '#service/live/accounts/account-reader.ts';
import { listNames, listTransactions } from '#service/live/transactions/block-listing.ts';
import { createLiveBlockFiles } from '#service/live/blocks/block-files.ts';
import { createBlockFinder } from '#service/live/blocks/block-finder.ts';
import { createLiveBlocks } from '#service/live/blocks/live-blocks.ts';
import { createLiveConfiguration } from '#service/live/configuration/live-configuration.ts';
import { pinBlock } from '#service/live/pinned-block.ts';
import { readPublicLibrary } from '#service/live/configuration/public-libraries.ts';
import { createRecentBlocks } from '#service/live/blocks/recent-blocks.ts';
import { createSuspendedAccounts, isSuspended } from '#service/live/accounts/suspended-accounts.ts';
import type { LiveTransaction } from '#service/live/transactions/transactions.ts';
import { answeredError, LiteServerError } from '#service/liteserver/errors.ts';
import type { LiteServerFunction } from '#service/liteserver/functions.ts';
import { functionOf } from '#service/liteserver/function-table.ts';
import { getBlockHeader, getLibrariesWithProof, lookupBlockWithProof } from '#service/liteserver/functions.ts';
import { TlError } from '#service/liteserver/tl/errors.ts';
import { checkHeadHeader } from '#service/pool/head-proof.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { PoolContext, PoolQueryOptions } from '#service/pool/reads.ts';
import { ProofError } from '#service/proof/errors.ts';
import { checkLookupWithProof } from '#service/proof/lookup-proof.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { zeroStateBlock } from '#service/proof/trusted-blocks.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { createLiar, donorsOf } from '../liteserver/tl/mutations.ts';
import { report, volume, volumeTimeoutMs } from '../liteserver/tl/volume.ts';
import { summary } from '../proof/answer-kinds.ts';
import { seeded } from '../proof/mutations.ts';
import { recordings } from '../proof/recorded.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

/** A head with blocks beyond it, and an account with a history. */
const BEHIND_HEAD = 10;
const chain = await recordedChain(recordingDirs()[0]!);
const view = { chain, tip: chain.lastSeqno, nowSeconds: 1_700_000_000 };
const zeroState = zeroStateBlock(chain.zeroStates[0]!.id);
const signatures = createSignatureChecker(
  { batchesMax: 4_096 },
  { register: new Registry(), logger: pino({ level: 'silent' }) },
);
afterAll(() => signatures.close());

const context = { deadlineMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
const basechain = { workchain: 0, shard: FULL_SHARD };
const config = { workchain: MASTERCHAIN, id: Buffer.alloc(32, 0x55) };

/** What a lite server sends for a request. */
type Answer = (request: Buffer) => Buffer;

const known = new Map<string, Buffer>();

function truth(request: Buffer): Buffer {
  const key = request.toString('latin1');
  const answer = known.get(key) ?? answerQuery(view, request, {} as never);
  known.set(key, answer);
  return answer;
}

function accept(block: BlockId): void {
  if (chain.find(block) !== undefined || sameBlock(block, zeroState)) return;
  throw new ProofError('fork', { subject: 'a block of another network' });
}

/** One lite server, whose answers are checked as by the pool, without a second one to be asked. */
function poolOver(answer: Answer): Pool {
  const head = headAt(chain.lastSeqno - BEHIND_HEAD);
  const query: Pool['query'] = async <A, R, T>(
    fn: LiteServerFunction<A, R>,
    args: A,
    attempt: PoolContext,
    { check }: PoolQueryOptions<R, T> = {},
  ) => {
    const decoded = fn.decode(sent(answer, fn.encode(args)));
    const value = check === undefined ? decoded : await check(decoded, { ...attempt, liteServer: 0 });
    return { value: value as never, liteServers: [0], cached: false };
  };
  const used: Partial<Pool> = {
    query,
    accept: async (block) => accept(block),
    head: () => head,
    headFor: async () => head,
    saw: () => undefined,
  };
  return used as Pool;
}

function sent(answer: Answer, request: Buffer): Buffer {
  try {
    return answer(request);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw answeredError(functionOf(request)!.name, error.data.serverCode, error.message);
  }
}

function headAt(seqno: number) {
  const { id } = chain.masterchain(seqno)!;
  const request = getBlockHeader.encode({ id, mode: 1 });
  return { ...checkHeadHeader(id, getBlockHeader.decode(truth(request))), init: zeroState };
}

type Read = (pool: Pool) => Promise<unknown>;

const head = headAt(chain.lastSeqno - BEHIND_HEAD);
const shardBlock = chain.along(0, 0n).at(-40)!.id;
const verified = (pool: Pool) => createAccountReader({ trust: 'verified' }, { pool });
const believed = (pool: Pool) => createAccountReader({ trust: 'none' }, { pool });
const blocks = (pool: Pool) => createLiveBlocks({ pool, signatures, toUnixMs: Number });
const library = recordings()[0]!
  .exchanges(getLibrariesWithProof)
  .flatMap(({ answer }) => answer.result)[0]!.hash;
const wallet = { workchain: 0, id: Buffer.alloc(32) };
const lastOfConfig = (await verified(poolOver(truth)).readView(config, head, context)).value.lastTransaction;

/** Every read of lite servers that answers are made of, by what it shows. */
const reads: readonly Read[] = [
  async (pool) => (await verified(pool).readView(config, head, context)).value,
  async (pool) => (await verified(pool).readCell(wallet, head, context)).value,
  async (pool) => versionOf((await verified(pool).readShardAccount(config, head, context)).value),
  async (pool) => shownHistory((await readHistoryStep(pool, config, lastOfConfig, 3, context)).value.transactions),
  async (pool) => shownHistory((await listTransactions(pool, head.block, { count: 5 }, context)).value.transactions),
  async (pool) => (await listNames(pool, shardBlock, { count: 300 }, context)).value,
  async (pool) => (await blocks(pool).findBlock(basechain, { by: 'seqno', seqno: 20 }, context)).value,
  async (pool) => (await blocks(pool).findBlock(basechain, { by: 'lt', lt: 15_000_000n }, context)).value,
  async (pool) => (await blocks(pool).findBlock(basechain, { by: 'utime', utime: head.utime - 60 }, context)).value,
  async (pool) => {
    const place = { workchain: MASTERCHAIN, shard: FULL_SHARD };
    return (await blocks(pool).findBlock(place, { by: 'seqno', seqno: chain.lastSeqno }, context)).value;
  },
  async (pool) => (await blocks(pool).readHeader(shardBlock, context)).value,
  async (pool) => (await blocks(pool).readShards(300, context)).value,
  async (pool) => (await blocks(pool).readSignatures(301, context)).value,
  async (pool) => {
    const proof = await blocks(pool).readShardBlockProof(basechain, 20, 400, context);
    const { from, masterchainLink } = proof.value;
    return [from, masterchainLink?.from];
  },
  // The lite server's word alone says how long a queue may be.
  async (pool) => (await blocks(pool).readQueueSizes(context)).value.shards,
  async (pool) => (await createLiveConfiguration({ pool }).readParam(34, 300, context)).value,
  async (pool) => (await createLiveConfiguration({ pool }).readAll(300, context)).value,
  async (pool) => (await createLiveConfiguration({ pool }).readLibraries([library, wallet.id], context)).value,
  async (pool) => (await readPublicLibrary(pool, head, library, context)).value,
  async (pool) => (await createRecentBlocks({ pool }).recentAt(head, context)).value,
  async (pool) => {
    const { value } = await createSuspendedAccounts({ pool }).listAt(head, context);
    return [value?.list.suspendedUntil, isSuspended(value, config, 0)];
  },
  async (pool) => (await pinBlock(pool, 300, context)).value,
  async (pool) => await files(pool).readFile(shardBlock, context),
  async (pool) => await files(pool).readZeroState(zeroState, context),
  async (pool) => await files(pool).readGlobalVersion(chain.keyBlocks.at(-1)!, context),
];

function files(pool: Pool) {
  return createLiveBlockFiles({ pool, finder: createBlockFinder({ pool }) });
}

function shownHistory(transactions: readonly LiveTransaction[]): unknown {
  return transactions.map(({ table, transaction: { cell, lt } }) => [lt, table.hash(cell).toString('hex')]);
}

type Target = { readonly read: Read; readonly shown: unknown; readonly request: Buffer };

/** Which requests each read makes, by function. */
async function findTargets(): Promise<ReadonlyMap<string, readonly Target[]>> {
  const targets: (Target & { readonly name: string })[] = [];
  for (const read of reads) {
    const requests: Buffer[] = [];
    const pool = poolOver((request) => {
      const answer = truth(request);
      requests.push(request);
      return answer;
    });
    const shown = summary(await read(pool));
    targets.push(...requests.map((request) => ({ read, shown, request, name: functionOf(request)!.name })));
  }
  return Map.groupBy(targets, ({ name }) => name);
}

const targets = await findTargets();
const donors = donorsOf([...known.values()]);

/** The errors that make the pool ask another lite server. */
function isRefused(error: unknown): boolean {
  return error instanceof ProofError || error instanceof LiteServerError || error instanceof TlError;
}

const FAULTS_MAX = 10;

describe('Reads over a lite server that lies', () => {
  test.each([...targets])(
    `show the truth or refuse %s: ${volume} lies, seed 1`,
    async (name, asked) => {
      const random = seeded(1);
      const liars = asked.map(({ request }) => createLiar(truth(request), donors));
      const faults: string[] = [];
      let refused = 0;
      for (let round = 0; round < volume && faults.length < FAULTS_MAX; round++) {
        const index = round % asked.length;
        const { read, shown, request } = asked[index]!;
        const { answer, what } = liars[index]!.lie(random);
        const pool = poolOver((other) => (other.equals(request) ? answer : truth(other)));
        try {
          // A list of transactions may be shorter than asked.
          const found = summary(await read(pool));
          const isPart = name === 'getTransactions' && isBeginning(found, shown);
          if (!isPart && !isDeepStrictEqual(found, shown)) faults.push(`${reads.indexOf(read)}: ${what}: accepted`);
        } catch (error) {
          if (isRefused(error)) refused++;
          else faults.push(`${reads.indexOf(read)}: ${what}: ${String(error)}`);
        }
      }
      expect(faults).toEqual([]);
      report(`${name} in ${asked.length} reads: ${refused} refused, ${volume - refused} right`);
    },
    volumeTimeoutMs,
  );
});

test('A lite server whose word is taken for accounts makes no other error', { timeout: volumeTimeoutMs }, async () => {
  const [{ request } = undefined!] = targets.get('getAccountState')!;
  const liar = createLiar(truth(request), donors);
  const random = seeded(2);
  for (let round = 0; round < volume; round++) {
    const { answer, what } = liar.lie(random);
    const outcome = await believed(poolOver(() => answer))
      .readView(config, head, context)
      .catch((error: unknown) => error);
    expect([what, !(outcome instanceof Error) || isRefused(outcome)]).toEqual([what, true]);
  }
});

/** The first block after a merge, and the shards of the two before it. */
const merged = chain.along(0, 0n).find(({ previous }) => previous.length === 2);

test.skipIf(merged === undefined)('A lookup after a merge must show the block before that holds the place', () => {
  const { id, previous } = merged!;
  const table = chain.parse(merged!);
  const { startLt } = readBlockInfo(table, readBlock(table, table.roots[0]!).info);
  const [left, right] = previous.map(({ shard }) => {
    const place = { workchain: 0, shard, seqno: 0 };
    const args = { mode: 2, id: place, mcBlockId: head.block, lt: startLt + 1n };
    const answer = lookupBlockWithProof.decode(truth(lookupBlockWithProof.encode(args)));
    const search = { by: 'lt', lt: args.lt } as const;
    return { answer, expected: { ...place, masterchainBlock: head.block, search } };
  });
  expect(checkLookupWithProof(left!.expected, left!.answer).id).toEqual(id);
  expect(checkLookupWithProof(right!.expected, right!.answer).id).toEqual(id);
  const lie = { ...left!.answer, prevHeader: right!.answer.prevHeader };
  expect(() => checkLookupWithProof(left!.expected, lie)).toThrow(
    expect.objectContaining({ name: 'ProofError', code: 'hash_mismatch' }),
  );
});

function isBeginning(found: unknown, shown: unknown): boolean {
  const [list, whole] = [found as readonly unknown[], shown as readonly unknown[]];
  return list.length > 0 && isDeepStrictEqual(list, whole.slice(0, list.length));
}
