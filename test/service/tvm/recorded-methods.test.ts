import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import { runSmcMethod } from '#service/liteserver/functions.ts';
import { decodeStack } from '#service/tvm/stack-reader.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';
import { encodeStack, encodeStackEntry } from '#service/tvm/stack-writer.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import type { GetMethodResult } from '#service/tvm/tvm.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import {
  accountAt,
  bocOf,
  configAfter,
  librariesAfter,
  previousBlocksOf,
  readRecords,
  startTvm,
  writeCell,
} from './recorded-world.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

// Runs every get-method that the recorded node ran, on the rebuilt state.

type QueryRecord = {
  query_name: string;
  note: string;
  request_hex: string;
  response_type: string;
  response_hex: string;
};

const { tvm } = startTvm();
afterAll(() => tvm.close());

/** Gas limit of a lite server (service/liteserver/README.md#functions). */
const LITE_SERVER_GAS = 300_000;

/** Exit code of a lite server for an account without code; the VM has -13. */
const LITE_SERVER_NO_CODE = -256;

for (const folder of recordingDirs()) {
  const records = (await readRecords<QueryRecord>(join(folder, 'queries.jsonl')))
    .filter((record) => record.query_name.endsWith('runSmcMethod') && record.response_type !== 'liteServer.error')
    .map((record) => ({
      note: record.note,
      args: runSmcMethod.decodeArgs(Buffer.from(record.request_hex, 'hex')),
      answer: runSmcMethod.decode(Buffer.from(record.response_hex, 'hex')),
    }));
  const chain = await recordedChain(folder);
  const none = skipLoudly(records.length === 0, {
    what: `get-methods in ${folder}`,
    why: 'no runSmcMethod in queries.jsonl',
  });

  describe.skipIf(none)(`the get-methods of ${folder.split('/').at(-1)}`, () => {
    it.each(records)('$note ends as on the node', async ({ args, answer }) => {
      const { exitCode, stack } = await run(chain, args);
      expect(exitCode === -13 ? LITE_SERVER_NO_CODE : exitCode).toBe(answer.exitCode);
      if (answer.result === undefined || answer.result.length === 0) return;
      expect(hashOf(encodeStack(stack))).toBe(hashOf(answer.result));
    });
  });

  const withC7 = records.filter(({ args, answer }) => (args.mode & 32) !== 0 && (answer.initC7?.length ?? 0) > 0);
  const noC7 = skipLoudly(withC7.length === 0, { what: `c7 in ${folder}`, why: 'no runSmcMethod with mode 32' });

  describe.skipIf(noC7)(`what contracts of ${folder.split('/').at(-1)} see`, () => {
    it.each(withC7)('$note: all of c7 is as on the node', async ({ args, answer }) => {
      const pushC7 = writeCell(Buffer.from('ed47', 'hex'));
      const { stack } = await run(chain, args, pushC7);
      const [ours, theirs] = [stack.at(-1)!, decodeStack(stackOf(answer.initC7!))[0]!].map(parametersOf);
      const differing = [...ours!, ...theirs!]
        .map((_, index) => index)
        .filter((index) => ours![index] !== theirs![index]);
      expect(differing.filter((index) => !OUR_OWN.has(index))).toEqual([]);
      expect(ours).toHaveLength(theirs!.length);
    });
  });

  describe.skipIf(none)(`the stacks of ${folder.split('/').at(-1)}`, () => {
    const stacks = records.flatMap(({ note, args, answer }) =>
      [args.params, answer.result, answer.initC7 && answer.initC7.length > 0 ? stackOf(answer.initC7) : undefined]
        .filter((bytes) => bytes !== undefined && bytes.length > 0)
        .map((bytes) => ({ note, bytes: bytes! })),
    );

    it.each(stacks)('the stack of $note is read and written back unchanged', ({ bytes }) => {
      expect(hashOf(encodeStack(decodeStack(bytes)))).toBe(hashOf(bytes));
    });
  });
}

/**
 * Parameters of c7 in which runs differ. The lts of the block and the transaction (4, 5) are 0 in the reference client's library too. The random seed
 * (6) and the code (10) are the test's own.
 */
const OUR_OWN = new Set([4, 5, 6, 10]);

/** Returns the parameters of c7, each as the hex of its own bag of cells. */
function parametersOf(c7: StackEntry): string[] {
  const parameters = c7.type === 'tuple' ? c7.items[0] : undefined;
  return parameters?.type === 'tuple' ? parameters.items.map((one) => encodeStackEntry(one).toString('hex')) : [];
}

/** Returns a stack whose only entry is the value in this bag of cells. */
function stackOf(value: Buffer): Buffer {
  const boc = parseBoc(value);
  const store = createCellStore();
  const cell = store.import(boc, boc.roots[0]!);
  const writer = new BitWriter().int(1, 24).ref(new BitWriter().finish(store));
  writer.copy(store.bytes, store.dataOffset(cell) * 8, store.bitLength(cell));
  for (let at = 0; at < store.refCount(cell); at++) writer.ref(store.ref(cell, at));
  return writeBoc(store, [writer.finish(store)]);
}

async function run(chain: Chain, args: ArgsOf<typeof runSmcMethod>, code?: Buffer): Promise<GetMethodResult> {
  const { seqno } = args.id;
  const masterchainBlock = chain.masterchain(seqno)!;
  const { block, account } = accountAt(chain, seqno, args.account);
  const init = account?.state.kind === 'active' ? account.state.init : undefined;
  return tvm.runGetMethod({
    code: code ?? bocOf(chain, init?.code),
    data: bocOf(chain, init?.data),
    address: args.account,
    balance: account?.balance.grams ?? 0n,
    utime: block.header.utime,
    randSeed: Buffer.alloc(32),
    methodId: Number(args.methodId),
    stack: args.params.length === 0 ? [] : decodeStack(args.params),
    config: configAfter(chain, masterchainBlock),
    previousBlocks: previousBlocksOf(chain, seqno),
    fetchLibrary: librariesAfter(chain, masterchainBlock),
    gasLimit: LITE_SERVER_GAS,
  });
}

function hashOf(bytes: Buffer): string {
  const boc = parseBoc(bytes);
  return boc.hash(boc.roots[0]!).toString('hex');
}
